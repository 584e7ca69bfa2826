// Holds the colours of style.css to WCAG 2.2 AA: 4.5 for text (1.4.3), 3 for the outlines of controls (1.4.11).
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

const css = readFileSync(new URL('../page/style.css', import.meta.url), 'utf8');
const [light, dark] = [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, block]) =>
  Object.fromEntries([...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, colour]) => [name, colour])));

const texts = [
  ['text', 'panel'], ['text', 'ground'], ['text', 'raised'], ['text', 'accent-ground'],
  ['muted', 'panel'], ['muted', 'ground'], ['muted', 'raised'], ['muted', 'accent-ground'],
  ['accent', 'panel'], ['accent', 'accent-ground'], ['good', 'panel'],
  ['bad', 'panel'], ['bad', 'raised'], ['bad', 'bad-ground'], ['warn', 'panel'], ['warn', 'raised'],
];
const outlines = [['edge', 'panel'], ['accent', 'panel'], ['accent', 'raised']];

for (const [scheme, colours] of Object.entries({ light, dark })) {
  test(`contrast, ${scheme}`, () => {
    for (const [front, back] of texts) check(colours, front, back, 4.5);
    for (const [front, back] of outlines) check(colours, front, back, 3);
  });
}

function check(colours, front, back, least) {
  const [high, low] = [luminance(colours[front]), luminance(colours[back])].sort((a, b) => b - a);
  const contrast = (high + 0.05) / (low + 0.05);
  assert.ok(contrast >= least, `${front} on ${back}: ${contrast.toFixed(2)}, want ${least}`);
}

function luminance(colour) {
  const [r, g, b] = [1, 3, 5].map((i) => {
    const c = parseInt(colour.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
