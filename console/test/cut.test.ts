import { expect, test } from 'vitest';
import { cut } from '../src/lib/cut';

const signs = (text: string): number => Array.from(text).length;

test('a text that has room stays, another loses its middle', () => {
  expect(cut('leaf1 out 4', 11, signs)).toBe('leaf1 out 4');
  expect(cut('leaf-switch-12 out 4', 11, signs)).toBe('leaf-…out 4');
  expect(cut('🦊🦊🦊🦊🦊🦊', 3, signs)).toBe('🦊…🦊');
  expect(cut('leaf1', 1, signs)).toBe('…');
  expect(cut('leaf1', 0, signs)).toBe('…');
  for (let room = 1; room < 30; room++) expect(signs(cut('a-leaf-switch-in-row-17-of-hall-3', room, signs))).toBe(room);
});
