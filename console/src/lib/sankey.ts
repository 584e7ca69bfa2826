// Bands between columns of boxes, whose heights are in proportion to what goes through them.

export interface Box {
  key: string;
  label: string;
  column: number;
  value: number;
  y: number;
  height: number;
}
export interface Band {
  from: Box;
  to: Box;
  value: number;
  y0: number;
  y1: number;
  height: number;
}

const gap = 10;
const least = 16; // so that a label fits

/** sankey lines up chains of labels, a column for each place in the chain. Boxes are never too low to be read. */
export function sankey(
  chains: { labels: string[]; value: number }[],
  height: number,
): { boxes: Box[]; bands: Band[]; height: number } {
  const boxes = new Map<string, Box>();
  const bands = new Map<string, Band>();
  for (const { labels, value } of chains) {
    const stations = labels.map((label, column) => {
      const key = `${column} ${label}`;
      const box = boxes.get(key) ?? { key, label, column, value: 0, y: 0, height: 0 };
      box.value += value;
      boxes.set(key, box);
      return box;
    });
    stations.slice(1).forEach((to, i) => {
      const from = stations[i]!;
      const key = `${from.key}>${to.key}`;
      const band = bands.get(key) ?? { from, to, value: 0, y0: 0, y1: 0, height: 0 };
      band.value += value;
      bands.set(key, band);
    });
  }
  const total = chains.reduce((sum, chain) => sum + chain.value, 0) || 1;
  let tallest = 0;
  for (const column of new Set([...boxes.values()].map((box) => box.column))) {
    let y = 0;
    for (const box of [...boxes.values()].filter((b) => b.column === column).sort((a, b) => b.value - a.value)) {
      box.y = y;
      box.height = Math.max(least, (box.value / total) * height);
      y += box.height + gap;
    }
    tallest = Math.max(tallest, y - gap);
  }
  const used = new Map<string, number>();
  const part = (box: Box, side: string, value: number): { y: number; height: number } => {
    const at = used.get(box.key + side) ?? 0;
    const of = (value / (box.value || 1)) * box.height;
    used.set(box.key + side, at + of);
    return { y: box.y + at, height: of };
  };
  const sorted = [...bands.values()].sort((a, b) => a.from.y - b.from.y || a.to.y - b.to.y);
  for (const band of sorted) {
    const [out, into] = [part(band.from, 'out', band.value), part(band.to, 'in', band.value)];
    [band.y0, band.y1, band.height] = [
      out.y + out.height / 2,
      into.y + into.height / 2,
      Math.max(1, Math.min(out.height, into.height)),
    ];
  }
  return { boxes: [...boxes.values()], bands: sorted, height: tallest };
}
