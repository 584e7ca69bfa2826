import { expect, test } from 'vitest';
import type { Event, Incident } from '../src/api/types';
import { chainOf, frameOf, placedOf } from '../src/pages/incident/chain';
import { countOf, extentOf, unseenOf } from '../src/pages/incident/extent';

const event = (id: string, second: number, of?: string) => ({
  id,
  ...(of === undefined ? {} : { of }),
  kind: 'k',
  severity: 'info',
  start: `2026-01-01T00:00:0${second}Z`,
  end: `2026-01-01T00:00:0${second + 1}Z`,
  count: 1,
  text: id,
});
const told = (events: ReturnType<typeof event>[]) => chainOf(events).map(({ event, depth }) => `${event.id}${depth}`);

test('events stand below what they follow from, in the order of time', () => {
  expect(
    told([event('cause', 1), event('late', 5, 'cause'), event('early', 0, 'cause'), event('of_early', 6, 'early')]),
  ).toEqual(['cause0', 'early1', 'of_early2', 'late1']);
});

test('no event is lost or told twice, whatever they say they follow from', () => {
  expect(told([event('a', 1, 'gone'), event('b', 2, 'b'), event('c', 3, 'd'), event('d', 4, 'c')])).toEqual([
    'a0',
    'b0',
    'c0',
    'd1',
  ]);
  expect(told([])).toEqual([]);
});

test('what has no place has that of its first effect', () => {
  const flood = { id: 'flood', events: [event('flood', 1), event('late', 5, 'flood'), event('early', 2, 'flood')] };
  const known = new Map(
    [{ id: 'flood' }, { id: 'late', node: 9, name: 'leaf9' }, { id: 'early', node: 7, name: 'leaf7', port: 3 }].map(
      (e) => [e.id, e as Event],
    ),
  );
  expect(placedOf(flood as Incident, known)).toEqual({ ...flood, node: 7, name: 'leaf7', port: 3 });
  expect(placedOf(flood as Incident, new Map())).toEqual(flood);
  expect(placedOf({ ...flood, node: 1 } as Incident, known).node).toBe(1);
});

test('what goes on reaches now', () => {
  const start = '2026-01-01T00:00:01Z';
  const now = Date.parse('2026-01-01T00:00:21Z');
  expect(frameOf({ start, end: null, events: [event('a', 1)] }, now)).toEqual({ from: now - 21_000, to: now + 1000 });
  const over = frameOf({ start, end: '2026-01-01T00:00:11Z', events: [event('a', 1), event('b', 0)] }, now);
  expect(over).toEqual({ from: now - 21_000 - 550, to: now - 10_000 + 550 });
});

test('whom an incident hit, and what was not seen meanwhile', () => {
  const incident = {
    flows_hit: 3,
    hosts_hit: 1200,
    packets_hit: 0,
    bytes_hit: 64_000,
    at_least: ['hosts_hit', 'packets_hit'],
    unseen: [
      { source: '192.0.2.1', name: 'leaf1', lost: 3, sent: 200 },
      { source: '192.0.2.2', lost: 0, sent: 0, silent: true },
    ],
  } as Incident;
  expect(extentOf(incident).map(({ text }) => text)).toEqual(['3', 'at least 1,200', '–', '64 kB']);
  const lost = { packets_lost: 194, flows_moved: 2, at_least: ['packets_lost'] } as Incident;
  expect([countOf(lost, 'packets_lost'), countOf(lost, 'flows_moved')]).toEqual(['at least 194', '2']);
  expect(unseenOf(incident)).toEqual([
    '3 of 200 datagrams of leaf1 were lost on the way here',
    'no reports from 192.0.2.2 in this time: it had nothing to report, as nodes that report on events only, or it was silent',
  ]);
});
