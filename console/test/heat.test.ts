import { expect, test } from 'vitest';
import type { Heatmap } from '../src/api/types';
import { rgb } from '../src/lib/palette';
import { bandOf } from '../src/pages/latency/band';
import { change, columnsOf, completenessOf, latencyMarks, lineOf, rowOf } from '../src/pages/latency/heat';
import { subjectFilter } from '../src/pages/latency/subject';
import { series } from '../src/pages/overview/series';
import { depthsOf, filterOf, rowsOf } from '../src/pages/queues/occupancy';

const at = (s: number): string => new Date(s * 1000).toISOString();
const map = (times: number[], step = 10): Heatmap => ({
  generated_at: at(0),
  since: at(0),
  until: at(100),
  step_ns: step * 1e9,
  resolution_ns: 1e9,
  bounds: [64, 128, 256, 512],
  times: times.map(at),
  counts: times.map((_, i) => [i, 0, 1]),
  spread: times.map(() => ({ packets: 1, min_ns: 64, mean_ns: 100, p50_ns: 128, p99_ns: 362, max_ns: 500 })),
});

test('columns are where their pieces are, and do not overlap', () => {
  expect(columnsOf(map([0, 10, 40]))).toEqual([
    { at: 0, ms: 10_000, values: [0, 0, 1] },
    { at: 10_000, ms: 10_000, values: [1, 0, 1] },
    { at: 40_000, ms: 10_000, values: [2, 0, 1] },
  ]);
  // Minutes of the store among pieces of 10 s.
  expect(columnsOf({ ...map([0, 60, 70]), resolution_ns: 60e9 }).map((c) => c.ms)).toEqual([60_000, 10_000, 60_000]);
});

test('a latency lies in its bucket', () => {
  const { bounds } = map([]);
  expect([64, 128, 181.02, 512].map((ns) => rowOf(bounds, ns)!.toFixed(2))).toEqual(['0.00', '1.00', '1.50', '3.00']);
  expect([rowOf(bounds, 0), rowOf([], 5)]).toEqual([null, null]);
  expect(latencyMarks(bounds).map((m) => m.text)).toEqual([
    '70 ns',
    '80 ns',
    '90 ns',
    '100 ns',
    '200 ns',
    '300 ns',
    '400 ns',
    '500 ns',
  ]);
});

test('a line is parted where pieces are missing', () => {
  const columns = columnsOf(map([0, 10, 40]));
  expect(lineOf(columns, map([]).bounds, [128, 128, 256]).map((p) => p.y)).toEqual([1, 1, null, 2]);
  expect(lineOf(columns, map([]).bounds, [128, 128, 256], 5000)[0]!.at).toBe(10_000);
});

test('completeness of an interval is of what was sent in it', () => {
  const share = completenessOf(
    [
      { start: at(0), received: 90, lost: 10 },
      { start: at(10), received: 52, lost: 0, duplicate: 2 },
      { start: at(20), received: 5 },
    ],
    10_000,
  );
  expect(share(0, 10_000)).toBe(0.9);
  expect(share(0, 20_000)).toBeCloseTo(140 / 150);
  expect(share(10_000, 20_000)).toBe(1);
  expect(share(20_000, 30_000)).toBeNull(); // nothing counts
  expect(share(50_000, 60_000)).toBeNull(); // nothing came
});

test('changes', () => {
  expect([change(110, 100), change(50, 100), change(300, 100), change(100, 100), change(5, 0)]).toEqual([
    '+10 %',
    '−50 %',
    '× 3.0',
    'same',
    '',
  ]);
});

test('what is chosen becomes a filter, and nothing else does', () => {
  const get = (values: Record<string, string>) => (name: string) => values[name] ?? '';
  expect(subjectFilter('hops', get({ node: '3', in: '1', out: '2' }))).toBe(
    'node = 3 and ingress_port = 1 and egress_port = 2',
  );
  expect(subjectFilter('flows', get({ node: 'spine "1"' }))).toBe('node = "spine ""1"""');

  expect(subjectFilter('links', get({ from: '3', out: '2', to: '5', in: '1' }))).toBe(
    'from = 3 and from_port = 2 and to = 5 and to_port = 1',
  );
  expect(subjectFilter('links', get({ from: '3 or true' }))).toBe('');
  expect(subjectFilter('paths', get({ path: '00000000000000ab' }))).toBe('id = "00000000000000ab"');
  expect(subjectFilter('paths', get({ path: '" or true' }))).toBe('');
  expect(subjectFilter('hops', get({ in: '1', filter: ' dropped or packets > 5 ' }))).toBe(
    '(dropped or packets > 5) and ingress_port = 1',
  );
});

test('a flow has mean and extremes only', () => {
  const band = bandOf(
    {
      generated_at: at(0),
      total: 2,
      since: at(0),
      until: at(20),
      resolution_ns: 10e9,
      flows: [
        { start: at(0), packets: 5, residence_min_ns: 1000, residence_mean_ns: 2000, residence_max_ns: 4000 },
        { start: at(10), packets: 1 },
      ],
    },
    10_000,
  );
  expect(band.times).toEqual([at(0)]);
  expect([band.bounds[0]!, band.bounds.at(-1)!]).toEqual([expect.closeTo(861, 0), expect.closeTo(4096, 0)]);
  expect(band.counts.flat().every((n) => n === 0)).toBe(true);
  expect(
    bandOf({ generated_at: at(0), total: 0, since: at(0), until: at(20), resolution_ns: 0, flows: null }, 1).bounds,
  ).toEqual([]);
});

const queue = (s: number, port: number, max: number, samples = 1) => ({
  start: at(s),
  node: 1,
  egress_port: port,
  queue: 0,
  occupancy_max: max,
  occupancy_mean: max / 2,
  samples,
});

test('queues over time, the first at the top', () => {
  const queues = [queue(0, 7, 0), queue(0, 8, 0)];
  expect(rowsOf([queue(0, 7, 5), queue(0, 8, 9), queue(10, 8, 3), queue(10, 9, 100)], queues, 10_000)).toEqual([
    { at: 0, ms: 10_000, values: [9, 5] },
    { at: 10_000, ms: 10_000, values: [3, null] },
  ]);
  expect(filterOf(queues)).toBe(
    '(node = 1 and egress_port = 7 and queue = 0) or (node = 1 and egress_port = 8 and queue = 0)',
  );
  expect(filterOf([queues[0]!], 'samples > 1 or queue = 3')).toBe(
    '(samples > 1 or queue = 3) and ((node = 1 and egress_port = 7 and queue = 0))',
  );
});

test('depths of one queue', () => {
  const { columns, top } = depthsOf([queue(0, 7, 0, 5), queue(1, 7, 100, 7), queue(11, 7, 49, 2)], 10_000, 4);
  expect(top).toBe(100);
  expect(columns).toEqual([
    { at: 0, ms: 10_000, values: [5, 0, 0, 7] },
    { at: 10_000, ms: 10_000, values: [0, 2, 0, 0] },
  ]);
});

test('colours', () => {
  expect(rgb('#1f5fa8')).toEqual([31, 95, 168]);
});

test('numbers of pieces, and gaps where there are none', () => {
  const records = [
    { start: at(20), n: 3 },
    { start: at(25), n: 4 },
    { start: at(40), n: null },
    { start: at(500), n: 9 },
  ];
  expect(series(records, (r) => r.n, 12_000, 60_000, 10_000)).toEqual([null, 7, null, null, null]);
});
