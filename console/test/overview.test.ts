import { expect, test } from 'vitest';
import { linesOf } from '../src/pages/overview/lines';
import type { Exporter } from '../src/api/types';
import { counted } from '../src/lib/format';
import { health } from '../src/pages/overview/health';
import { covered, inside, refined } from '../src/pages/overview/series';

const second = (s: number): string => new Date(1763715600_000 + 1000 * s).toISOString();

test('an exporter that says nothing any more is silent, whatever was lost of it before', () => {
  const exporter = {
    last: second(0),
    received: 588,
    lost: 0,
    loss_known: 'yes',
    malformed: null,
    damaged: null,
  } as Exporter;
  const at = (s: number): number => Date.parse(second(s));
  expect(health(exporter, at(10))).toEqual({ level: 0, silent: false, says: 'complete' });
  expect(health(exporter, at(130))).toEqual({ level: 1, silent: true, says: 'silent, last report 2 min ago' });
  expect(health({ ...exporter, lost: 35 }, at(10))).toEqual({
    level: 2,
    silent: false,
    says: '35 datagrams lost since its first report, 5.61 %',
  });
  expect(health({ ...exporter, lost: 35 }, at(130))).toEqual({
    level: 2,
    silent: true,
    says: 'silent, last report 2 min ago; 35 datagrams lost since its first report, 5.61 %',
  });
  expect(health({ ...exporter, damaged: { truncated: 1 } }, at(130)).says).toMatch(/^silent.*; 1 datagram could not/);
  expect(health({ ...exporter, lost: null, records_lost: 7, loss_known: 'no: records' }, at(30))).toMatchObject({
    level: 2,
    says: '7 records lost since its first report',
  });
  expect(health({ ...exporter, lost: null, records_lost: 0, loss_known: 'no: records' }, at(30))).toMatchObject({
    level: 0,
    says: 'complete',
  });
  expect(health({ ...exporter, lost: null, loss_known: 'no: no numbers' }, at(130)).says).toBe(
    'silent, last report 2 min ago; loss unknown: no numbers',
  );
});

test('a count with its noun', () =>
  expect([counted(1, 'address', 'addresses'), counted(2000, 'address', 'addresses'), counted(0, 'flow')]).toEqual([
    '1 address',
    '2,000 addresses',
    '0 flows',
  ]));

test('lists are longer where the window has room for them', () => {
  const lines = (width: number, height: number, rem = 14): number => linesOf({ width, height, rem });
  expect([lines(390, 844), lines(1280, 900), lines(1920, 1080), lines(2560, 1440), lines(3840, 2160, 20)]).toEqual([
    8, 8, 8, 8, 12,
  ]);
  expect(lines(1280, 2000)).toBe(20);
});

test('what records cover of a range begins and ends with a piece that has one', () => {
  const records = [60, 120, 300].map((s) => ({ start: second(s) }));
  const of = (from: number, to: number): (number | undefined)[] => {
    const part = covered(records, Date.parse(second(from)), Date.parse(second(to)), 60_000);
    return part ? [part.from, part.to].map((at) => (at - Date.parse(second(0))) / 1000) : [];
  };
  expect([of(0, 3600), of(90, 320), of(400, 500), of(-100, 60)]).toEqual([[60, 360], [90, 320], [], []]);
  expect(covered([{}], 0, 1e15, 60_000)).toBe(null); // a record without a time
});

test('a rate is over the time in which there were reports, however long the pieces are', async () => {
  const hour = 3_600_000;
  const records = (from: number, to: number, step: number): { start: string }[] => {
    const list = [];
    for (let at = Math.floor(from / step) * step; at < to; at += step) list.push({ start: new Date(at).toISOString() });
    return list;
  };
  const [began, ended] = [29.7 * 24 * hour, 29.7 * 24 * hour + 15 * 60_000]; // of 30 days, 15 minutes
  const coarse = covered(records(began, ended, 12 * hour), 0, 30 * 24 * hour, 12 * hour);
  const asked: number[][] = [];
  const part = await refined(coarse, 12 * hour, (from, to) => {
    asked.push([from, to]);
    return Promise.resolve({ records: records(Math.max(from, began), Math.min(to, ended), 600_000), stepMs: 600_000 });
  });
  expect(part && part.from <= began && part.to >= ended && part.to - part.from <= ended - began + 2 * 600_000).toBe(
    true,
  );
  expect(asked.every(([from, to]) => to! - from! <= 12 * hour)).toBe(true);
  expect(part && inside(Math.floor(began / hour / 12) * 12 * hour, 12 * hour, part)).toBe(part && part.to - part.from);
  expect(await refined(null, 12 * hour, () => Promise.reject(new Error('asked')))).toBe(null);
});
