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

const of = { since: '2d', until: '1d' };
const server = (exporters: unknown) =>
  vi.stubGlobal(
    'fetch',
    vi.fn(() => Promise.resolve(Response.json({ generated_at: '', exporters }))),
  );

test('nothing is asked where nothing is compared', async () => {
  const none = vi.fn(() => Promise.resolve(1));
  server([]);
  expect(await before(0, of, none)).toBeUndefined();
  expect(none).not.toHaveBeenCalled();
  expect(fetch).not.toHaveBeenCalled();
});

test('what no report of is kept, or no longer as it is asked, is lacking, and is not nothing', async () => {
  server([{ reports: 1 }]);
  expect(await before(1, of, ({ since }) => Promise.resolve(since))).toBe('2d');
  expect(String(vi.mocked(fetch).mock.calls[0]?.[0])).toMatch(/exporters\?since=2d&until=1d&limit=1$/);
  expect(await before(1, of, () => Promise.reject(new ApiError(400, 'kept for 48h')))).toBeNull();
  await expect(before(1, of, () => Promise.reject(new ApiError(503, 'busy')))).rejects.toThrow('busy');
  for (const no of [[], null]) {
    server(no);
    expect(await before(1, of, () => Promise.resolve([]))).toBeNull();
  }
});
