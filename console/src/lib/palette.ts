// Colours of the style sheet for what is drawn on a canvas.

/** paletteOf returns the colours that an element has, in this colour scheme. */
export function paletteOf(element: Element): (name: string) => string {
  const style = getComputedStyle(element);
  const known = new Map<string, string>();
  return (name) => {
    let colour = known.get(name);
    if (colour === undefined) known.set(name, (colour = style.getPropertyValue(name).trim()));
    return colour;
  };
}

/** ramp returns colours for shares from 0 to 1, which go through the shades of the style sheet, or those that a thin line shows. */
export function ramp(tone: (name: string) => string, n = 48, lines = false): string[] {
  const stops = [0, 1, 2, 3, 4].slice(lines ? 1 : 0).map((i) => rgb(tone(`--shade-${i}`)));
  return Array.from({ length: n }, (_, i) => {
    const at = (i / (n - 1)) * (stops.length - 1);
    const low = Math.min(stops.length - 2, Math.floor(at));
    const mixed = stops[low]!.map((v, channel) => Math.round(v + (stops[low + 1]![channel]! - v) * (at - low)));
    return `rgb(${mixed.join()})`;
  });
}

/** rgb reads #rrggbb. */
export const rgb = (hex: string): number[] => [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16) || 0);
