import { expect, test, vi } from 'vitest';

vi.stubGlobal('location', { hash: '' });
vi.stubGlobal('addEventListener', () => {});
const { ApiError } = await import('../src/api/client');
const { before, earlier, moved, shiftOf } = await import('../src/lib/compare');

const day = 86_400_000;

test('the period before is as long as the range, and others begin whole days earlier', () => {
  expect(['', 'before', 'day', 'week', 'nonsense'].map((choice) => shiftOf(choice, 90_000))).toEqual([
    0,
    90_000,
    day,
    7 * day,
    0,
  ]);
  expect(earlier({ since: '15m' }, 900_000)).toEqual({ since: '30m', until: '15m' });
  expect(earlier({ since: '2026-11-28T01:00:00Z', until: '2026-11-28T02:00:00Z' }, day)).toEqual({
    since: '2026-11-27T01:00:00.000Z',
    until: '2026-11-27T02:00:00.000Z',
  });
  expect(earlier({}, day)).toEqual({});
  expect(moved([{ at: 5, values: [1] }], 10)).toEqual([{ at: 15, values: [1] }]);
});

test('nothing is asked where nothing is compared, and what is kept no more is nothing', async () => {
  const none = vi.fn(() => Promise.resolve(1));
  expect(await before(0, none)).toBeNull();
  expect(none).not.toHaveBeenCalled();
  expect(await before(1, none)).toBe(1);
  expect(await before(1, () => Promise.reject(new ApiError(400, 'kept for 48h')))).toBeNull();
  await expect(before(1, () => Promise.reject(new ApiError(503, 'busy')))).rejects.toThrow('busy');
});
