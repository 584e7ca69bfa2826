import { expect, test } from 'vitest';
import { slotsOf } from '../src/lib/slots';

test('rows that stay in view keep their place, others take the places that became free', () => {
  const first = slotsOf(['a', 'b', 'c', 'd'], new Map());
  expect([...first]).toEqual([
    ['a', 0],
    ['b', 1],
    ['c', 2],
    ['d', 3],
  ]);
  const down = slotsOf(['c', 'd', 'e', 'f'], first);
  expect(Object.fromEntries(down)).toEqual({ c: 2, d: 3, e: 0, f: 1 });
  const sorted = slotsOf(['f', 'x', 'd', 'c'], down);
  expect(Object.fromEntries(sorted)).toEqual({ f: 1, x: 0, d: 3, c: 2 });
  expect(Object.fromEntries(slotsOf(['x', 'f'], sorted))).toEqual({ x: 0, f: 1 });
  // However far one scrolls, there are no more places than rows in view.
  let slots = new Map<string, number>();
  for (let top = 0; top < 1000; top += 7) {
    slots = slotsOf(
      Array.from({ length: 40 }, (_, i) => `${top + i}`),
      slots,
    );
    expect(new Set(slots.values())).toEqual(new Set(Array.from({ length: 40 }, (_, i) => i)));
  }
});
