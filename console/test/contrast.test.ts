// Holds the colours of app.css to WCAG 2.2 AA: 4.5 for text (1.4.3), 3 for outlines of controls and graphics (1.4.11).
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const css = readFileSync(new URL('../src/app.css', import.meta.url), 'utf8');
const schemes = [...css.matchAll(/:root[^{},]* \{([^}]*--ground[^}]*)\}/g)].map(([, block]) =>
  Object.fromEntries([...block!.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, colour]) => [name!, colour!])),
);

const texts = [
  ['text', 'panel'],
  ['text', 'ground'],
  ['text', 'raised'],
  ['text', 'accent-ground'],
  ['muted', 'panel'],
  ['muted', 'ground'],
  ['muted', 'raised'],
  ['accent', 'panel'],
  ['accent', 'ground'],
  ['accent', 'accent-ground'],
  ['good', 'panel'],
  ['bad', 'panel'],
  ['bad', 'bad-ground'],
  ['warn', 'panel'],
] as const;
const outlines = [
  ['edge', 'panel'],
  ['edge', 'ground'],
  ['accent', 'raised'],
  ['series-0', 'panel'],
  ['series-1', 'panel'],
  ['series-8', 'panel'],
] as const;

test('there are two schemes', () => expect(schemes).toHaveLength(2));
test.each(['light', 'dark'])('contrast, %s', (scheme) => {
  const colours = schemes[scheme === 'light' ? 0 : 1]!;
  for (const [pairs, least] of [
    [texts, 4.5],
    [outlines, 3],
  ] as const) {
    for (const [front, back] of pairs)
      expect(contrast(colours[front]!, colours[back]!), `${front} on ${back}`).toBeGreaterThanOrEqual(least);
  }
});

function contrast(a: string, b: string): number {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = parseInt(colour.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
