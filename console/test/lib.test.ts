import { expect, test, vi } from 'vitest';
import type { FlowPath, Link, LossList } from '../src/api/types';
import { byteOffset, replaceBytes } from '../src/lib/bytes';
import { placed, rowsOf, shapeOf, tiersOf } from '../src/lib/layers';
import { Rate } from '../src/lib/rate';
import { decades, logScale, stacked } from '../src/lib/scale';
import { fateOf, ledgerOf, startedOf } from '../src/pages/collector/ledger';
import { waterfall } from '../src/pages/flow/waterfall';
import { targetOf } from '../src/pages/overview/target';

vi.stubGlobal('location', { hash: '' });
vi.stubGlobal('addEventListener', () => {});
const { href, parse } = await import('../src/lib/route.svelte');

test('addresses of pages come back as they were', () => {
  const hash = href('flows', { src: '10.0.0.0/8', order: 'drops', node: '', port: 0, text: 'a & b = "ü"' });
  const { page, params } = parse(hash);
  expect(page).toBe('flows');
  expect(Object.fromEntries(params)).toEqual({ src: '10.0.0.0/8', order: 'drops', port: '0', text: 'a & b = "ü"' });
  expect(parse('').page).toBe('overview');
  expect(parse('#/').page).toBe('overview');
});

test('scales', () => {
  const x = logScale(100, 1e6);
  expect([x(100), x(1e4), x(1e6), x(1), x(1e9)]).toEqual([0, 0.5, 1, 0, 1]);
  expect(decades(50, 20_000)).toEqual([100, 1000, 10_000]);
  expect(
    stacked([
      [1, 2],
      [3, 4],
    ]),
  ).toEqual([
    [
      [0, 1],
      [0, 2],
    ],
    [
      [1, 4],
      [2, 6],
    ],
  ]);
});

test('bytes of UTF-8', () => {
  expect(byteOffset('ü = x', 1)).toBe(2);
  expect(replaceBytes('ü = dr', 5, 7, 'drop_storm ')).toEqual({ text: 'ü = drop_storm ', cursor: 15 });
});

test('a counter that sinks began anew', () => {
  const rate = new Rate(4000);
  expect(rate.perSecond()).toBeNull();
  rate.add(100, 0);
  rate.add(300, 2000);
  expect(rate.perSecond()).toBe(100);
  rate.add(5, 3000);
  expect(rate.perSecond()).toBeNull();
});

const clos = (leaves: number, spines: number) => ({
  nodes: Array.from({ length: leaves + spines }, (_, i) => ({ id: i + 1, hosts: i < leaves })),
  links: Array.from({ length: leaves * spines }, (_, i) => ({
    from: 1 + (i % leaves),
    to: leaves + 1 + Math.floor(i / leaves),
  })),
});

test('leaves are below spines', () => {
  const { nodes, links } = clos(4, 2);
  expect([...tiersOf(nodes, links).entries()].sort()).toEqual([
    [1, 0],
    [2, 0],
    [3, 0],
    [4, 0],
    [5, 1],
    [6, 1],
  ]);
  expect(shapeOf(nodes, links)).toBe('4 leaves, 2 spines');
  expect(shapeOf(nodes, [...links, { from: 5, to: 6 }])).toBe('6 nodes');
});

test('a layout does not depend on the order of what it gets, and nothing lies on something else', () => {
  const { nodes, links } = clos(300, 200);
  const places = placed(rowsOf(nodes, links), 24);
  expect(placed(rowsOf(nodes.toReversed(), links.toReversed()), 24).toSorted((a, b) => a.id - b.id)).toEqual(
    places.toSorted((a, b) => a.id - b.id),
  );
  expect(places).toHaveLength(500);
  const near = places.filter((p) =>
    places.some((q) => p !== q && Math.abs(p.x - q.x) < 150 && Math.abs(p.y - q.y) < 90),
  );
  expect(near).toEqual([]);
  const size = (of: number[]): number => Math.max(...of) - Math.min(...of);
  expect(size(places.map((p) => p.x)) / size(places.map((p) => p.y))).toBeLessThan(6); // fits a window
  expect(Math.min(...places.filter((p) => p.tier === 0).map((p) => p.y))).toBeGreaterThan(
    Math.max(...places.filter((p) => p.tier === 1).map((p) => p.y)),
  );
});

test('a part of the network without hosts is placed too', () => {
  const places = placed(
    rowsOf(
      [
        { id: 1, hosts: true },
        { id: 2, hosts: false },
        { id: 3, hosts: false },
      ],
      [{ from: 2, to: 3 }],
    ),
    24,
  );
  expect(places.map((p) => [p.id, p.tier]).sort()).toEqual([
    [1, 0],
    [2, 0],
    [3, 1],
  ]);
});

const dist = (mean: number) => ({ count: 1, min: mean, mean, max: mean, p50: 0, p99: 0, relative_error: 0 });
const hop = (node: number | null, ingress: number, egress: number, mean?: number) => ({
  node,
  ingress_port: ingress,
  egress_port: egress,
  ...(mean === undefined ? {} : { latency_ns: dist(mean) }),
});

test('a waterfall takes the link between the ports of the path, and leaves out what is not known', () => {
  const link = (from_port: number, mean: number): Link => ({
    from: 1,
    from_port,
    to: 2,
    to_port: 3,
    packets: 1,
    first: '',
    last: '',
    delay: { ns: dist(mean) },
  });
  const path: FlowPath = {
    id: 'x',
    packets: 1,
    first: '',
    last: '',
    hops: [hop(1, 9, 2, 100), hop(2, 3, 4), hop(3, 1, 2, 50)],
  };
  const fall = waterfall(path, [link(1, 999), link(2, 20)]);
  expect(fall.steps.map((s) => [s.startNs, s.ns])).toEqual([
    [0, 100],
    [100, 20],
    [120, null],
    [120, null],
    [120, 50],
  ]);
  expect([fall.totalNs, fall.gaps]).toEqual([170, 2]);
});

test('the ledger adds up', () => {
  const loss = {
    socket: 0,
    received: 90,
    lost: 10,
    kernel_drops: 4,
    duplicate: 1,
    malformed: { a: 2, b: 1 },
    damaged: {},
  };
  const steps = ledgerOf({
    loss: [loss, { ...loss, received: 5, lost: null, kernel_drops: null, duplicate: null, malformed: null }],
  } as unknown as LossList);
  expect(steps.map((s) => [s.name, s.count])).toEqual([
    ['Sent', 105],
    ['Lost in the network', 6],
    ['Dropped at the socket', 4],
    ['Received', 95],
    ['Malformed', 3],
    ['Usable', 92],
  ]);
});

test('the ledger goes on to the store', () => {
  const fate = {
    reports: 100,
    repeated: 1,
    waiting: 2,
    flowless: 3,
    kept_out: 4,
    in_flows: 90,
    held: 5,
    unfollowed: 0,
    evicted: 6,
    queued: 7,
    stored: 60,
    store_dropped: 12,
  };
  const counts = (...list: object[]): unknown[] =>
    fateOf({ loss: list } as unknown as LossList).map((s) => [s.name, s.count]);
  const tables = [
    ['Reports', 200],
    ['Repeated', 2],
    ['Waiting', 4],
    ['No flow key', 6],
    ['Table full', 8],
    ['In flows', 180],
    ['Evicted', 12],
  ];
  expect(counts({ fate }, { fate }, {})).toEqual([
    ...tables,
    ['Dropped by the store', 24],
    ['In flight', 24],
    ['Stored', 120],
  ]);
  expect(counts({ fate: { ...fate, unfollowed: 2, held: 3 } }).slice(-4)).toEqual([
    ['Dropped by the store', 12],
    ['Not followed', 2],
    ['In flight', 10],
    ['Stored', 60],
  ]);
  expect(counts({ fate: { ...fate, held: null, queued: null } }).slice(-2)).toEqual([
    ['Dropped by the store', 12],
    ['Stored', 60],
  ]); // of a range
  const none = { ...fate, queued: null, stored: null, store_dropped: null };
  expect(counts({ fate: none }, { fate: none })).toEqual(tables);
});

test('the reports of the ledger are of the process that began when the latest gap ended', () => {
  const of = (gaps: { from: string; to: string }[] | null): string => startedOf({ gaps } as unknown as LossList);
  const [a, b] = ['2026-11-20T09:00:00Z', '2026-11-21T09:00:00Z'].map((to) => ({ from: '2026-11-20T08:00:00Z', to }));
  expect([of([a!, b!]), of([]), of(null)]).toEqual([b!.to, '', '']);
});

test('where to point a switch', () => {
  expect(targetOf('0.0.0.0:8555', 'noc.example')).toBe('noc.example:8555');
  expect(targetOf('udp://[::]:8555', 'noc.example')).toBe('noc.example:8555');
  expect(targetOf('192.0.2.7:32766', 'noc.example')).toBe('192.0.2.7:32766');
});
