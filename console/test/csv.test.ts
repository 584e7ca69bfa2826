import { expect, test } from 'vitest';
import { csv, linesOf } from '../src/lib/csv';

test('cells with commas, quotes and line breaks are quoted', () => {
  expect(
    csv([
      ['a', 'b,c'],
      ['"d"', 'e\nf', ''],
    ]),
  ).toBe('a,"b,c"\r\n"""d""","e\nf",\r\n');
});

test('lines have a column each, and one for what they are compared with', () => {
  expect(
    linesOf(Date.parse('2026-11-22T09:00:00Z'), 10_000, [
      { title: 'Drops', values: [1, null, 0], before: [2, 3] },
      { title: 'Queue', values: [7] },
    ]),
  ).toEqual([
    ['Time', 'Drops', 'Drops, before', 'Queue'],
    ['2026-11-22T09:00:00.000Z', '1', '2', '7'],
    ['2026-11-22T09:00:10.000Z', '', '3', ''],
    ['2026-11-22T09:00:20.000Z', '0', '', ''],
  ]);
});
