import { expect, test } from 'vitest';
import { changesOf, changeText, type Figure } from '../src/pages/overview/changes';

const figures = (values: Record<string, number>): Figure[] =>
  Object.entries(values).map(([where, value]) => ({ where, value, text: String, to: ['drops', {}] }));
const said = (now: Record<string, number>, before: Record<string, number>, whole?: number): string[] =>
  changesOf('drops', figures(now), figures(before), whole).map((c) => `${c.where} ${changeText(c)}`);

test('what is twofold or half changed, the largest difference first', () => {
  expect(said({ a: 100, b: 199, c: 40, d: 7 }, { a: 100, b: 100, c: 80, d: 2000 })).toEqual(['d ÷ 286', 'c ÷ 2']);
  expect(said({ a: 50 }, {})).toEqual(['a new']);
  expect(said({}, { a: 50 })).toEqual(['a gone']);
  expect(said({ a: 0 }, {})).toEqual([]);
});

test('what is small beside the largest is left out, and what is beyond four', () => {
  expect(said({ a: 10_000, b: 50 }, {})).toEqual(['a new']);
  expect(said({ a: 9, b: 8, c: 7, d: 6, e: 5 }, {})).toEqual(['a new', 'b new', 'c new', 'd new']);
});

test('of what a list that is not whole has not, nothing is said', () => {
  expect(said({ a: 10, b: 9 }, { a: 1, c: 90 }, 2)).toEqual(['a × 10']);
});
