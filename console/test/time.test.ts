import { readdirSync, readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import {
  everyMs,
  parseLength,
  parseSpan,
  sayLength,
  sayTime,
  sayTimes,
  sayTimesUTC,
  sayUTC,
  settle,
  spanParams,
  stepOf,
  timeMarks,
  writeLength,
} from '../src/lib/time';

test('an address says which time it is about', () => {
  expect(parseSpan('', '')).toEqual({ kind: 'now' });
  expect(parseSpan('15m', '')).toEqual({ kind: 'last', ms: 900_000 });
  expect(parseSpan('7d', 'now')).toEqual({ kind: 'last', ms: 7 * 86_400_000 });
  expect(parseSpan('2026-11-21T09:00:00Z', '2026-11-21T10:00:00+00:00')).toEqual({
    kind: 'fixed',
    from: Date.UTC(2026, 10, 21, 9),
    to: Date.UTC(2026, 10, 21, 10),
  });
  for (const [since, until] of [
    ['2026-11-21T10:00:00Z', '2026-11-21T09:00:00Z'],
    ['nonsense', ''],
    ['2026-11-21T10:00:00Z', ''],
    ['<b>', '15m'],
    ['0s', ''],
    ['15m', '5m'],
  ]) {
    expect(parseSpan(since!, until!)).toEqual({ kind: 'now' });
  }
});

test('what depends on when it is read is settled once', () => {
  const now = Date.UTC(2026, 10, 21, 10);
  expect(settle('15m', '5m', now)).toEqual({ kind: 'fixed', from: now - 900_000, to: now - 300_000 });
  expect(settle('2026-11-21T09:00:00Z', '', now)).toEqual({ kind: 'fixed', from: now - 3_600_000, to: now });
  expect(settle('2026-11-21T09:00:00Z', 'now', now)).toEqual({ kind: 'fixed', from: now - 3_600_000, to: now });
  expect(
    [
      ['5m', '15m'],
      ['<b>', ''],
      ['', '15m'],
      ['2026-11-21T11:00:00Z', ''],
    ].map(([since, until]) => settle(since!, until!, now)),
  ).toEqual([null, null, null, null]);
});

test('and comes back as it was', () => {
  for (const span of [
    { kind: 'now' },
    { kind: 'last', ms: 90_000 },
    { kind: 'last', ms: 86_400_000 },
    { kind: 'fixed', from: 1_763_715_600_000, to: 1_763_715_601_500 },
  ] as const) {
    const { since = '', until = '' } = spanParams(span);
    expect(parseSpan(since, until)).toEqual(span);
  }
});

test('lengths', () => {
  expect(['90s', '15m', '1h30m', '7d', '1.5h', '', 'm', '5', '-5m', '500ms'].map(parseLength)).toEqual([
    90_000,
    900_000,
    5_400_000,
    604_800_000,
    5_400_000,
    null,
    null,
    null,
    null,
    null,
  ]);
  expect([90_000, 900_000, 7_200_000, 604_800_000].map(writeLength)).toEqual(['90s', '15m', '2h', '168h']);
  expect([90_000, 900_000, 7_200_000, 604_800_000].map(sayLength)).toEqual(['90 s', '15 min', '2 h', '7 days']);
});

test('a range is cut into at most so many pieces that the store can answer', () => {
  expect(stepOf(900_000, 120, 1000)).toBe(10_000);
  expect(stepOf(300_000, 120, 1000)).toBe(5000);
  expect(stepOf(300_000, 120, 10_000)).toBe(10_000);
  expect(stepOf(7 * 86_400_000, 120, 1000)).toBe(2 * 3_600_000);
  for (const ms of [1000, 61_000, 3_599_000, 86_400_000, 30 * 86_400_000, 4000 * 86_400_000])
    expect(ms / stepOf(ms, 100, 1000)).toBeLessThanOrEqual(100);
});

test('only what can change is asked for again', () => {
  expect(everyMs({ kind: 'fixed', from: 0, to: 1 })).toBe(0);
  expect(everyMs({ kind: 'last', ms: 300_000 })).toBe(2000);
  expect(everyMs({ kind: 'last', ms: 300_000 }, 15_000)).toBe(15_000);
  expect(everyMs({ kind: 'now' }, 15_000)).toBe(2000);
  expect(everyMs({ kind: 'last', ms: 7 * 86_400_000 })).toBe(60_000);
});

test('an hour past midnight is not the 24th', () => {
  vi.useFakeTimers({ now: new Date(2026, 10, 21, 12) });
  expect(sayTime(new Date(2026, 10, 21, 0, 5).getTime())).toBe('00:05:00');
  expect(sayTime(new Date(2026, 10, 20, 0, 5).getTime())).toBe('Nov 20 00:05:00');
  expect(sayUTC(Date.UTC(2026, 10, 21, 0, 5))).toBe('2026-11-21 00:05:00 UTC');
  expect(timeMarks(new Date(2026, 10, 21).getTime(), new Date(2026, 10, 21, 0, 2).getTime(), 3)[0]!.text).toBe('00:00');
  vi.useRealTimers();
});

test('a piece of time says its day once, here and in UTC', () => {
  const [noon, minute, day] = [new Date(2026, 10, 21, 12).getTime(), 60_000, 86_400_000];
  vi.useFakeTimers({ now: noon });
  expect(sayTimes(noon - minute, noon)).toBe('11:59:00 – 12:00:00');
  expect(sayTimes(noon - day, noon - day + minute)).toBe('Nov 20 12:00:00 – 12:01:00');
  expect(sayTimes(noon - 2 * day, noon - day)).toBe('Nov 19 12:00:00 – Nov 20 12:00:00');
  expect(sayTimes(noon - day, noon)).toBe('Nov 20 12:00:00 – Nov 21 12:00:00');
  const utc = Date.UTC(2026, 10, 21, 23, 59);
  expect(sayTimesUTC(utc, utc + 30_000)).toBe('2026-11-21 23:59:00 – 23:59:30 UTC');
  expect(sayTimesUTC(utc, utc + minute)).toBe('2026-11-21 23:59:00 – 2026-11-22 00:00:00 UTC');
  vi.useRealTimers();
});

test('marks of an axis are round and inside', () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 21, 12) });
  const [from, to] = [Date.UTC(2026, 10, 21, 9, 0, 7), Date.UTC(2026, 10, 21, 9, 15, 7)];
  const marks = timeMarks(from, to, 8);
  expect(marks.map((m) => m.at % 120_000)).toEqual(marks.map(() => 0));
  expect(marks.length).toBeGreaterThan(5);
  expect(marks.length).toBeLessThanOrEqual(8);
  expect(marks.every((m) => m.at >= from && m.at <= to)).toBe(true);
  expect(timeMarks(from - 86_400_000, to, 8)[0]!.text).toMatch(/20/); // yesterday says its day
  vi.useRealTimers();
});

// A time that a page writes by itself would stay in the zone of the browser when UTC was chosen.
test('only lib/time.ts writes times', () => {
  const root = new URL('../src/', import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(ts|svelte)$/.test(name));
  expect(files).toContain('lib/time.ts');
  const writes = [
    /toLocale(Date|Time)String|to(Date|Time|UTC)String|DateTimeFormat\((?!\))/,
    /\.get(FullYear|Month|Date|Day|Hours|Minutes|Seconds)\(/,
  ];
  const found = files.filter((name) => {
    const source = readFileSync(new URL(name, root), 'utf8');
    return writes.some((form) => form.test(source));
  });
  expect(found).toEqual(['lib/time.ts']);
});
