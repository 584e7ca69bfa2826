import { expect, test } from 'vitest';
import type { Flow, Link, NodeHop, Topology } from '../src/api/types';
import { layout } from '../src/lib/layers';
import { painting, type Scene } from '../src/pages/topology/paint';
import { flowsNow } from '../src/pages/topology/flows';
import { queuesNow } from '../src/pages/topology/fresh';
import { graphAt, graphOf } from '../src/pages/topology/model';

const time = '2026-11-21T09:00:00Z';
const link = (from: number, from_port: number, to: number, to_port: number, packets: number, mean?: number): Link => ({
  from, from_port, to, to_port, packets, first: time, last: time, confidence: 0.99,
  delay: mean === undefined ? null : { ns: { count: 1, min: mean, mean, max: mean, p50: mean, p99: mean, relative_error: 0 } },
});
const network = (links: Link[], nodes: { id: number; packets?: number; hosts?: number }[]): Topology => ({
  generated_at: time, total: nodes.length, links, hosts: [],
  nodes: nodes.map(({ id, packets = 0, hosts }) => ({ id, name: `s${id}`, packets, first: time, last: time, ports: [{ port: 9, hosts, received: 0, sent: 0, first: time, last: time }] })),
});

test('the graph of a moment has all cables of the range, and says which carried nothing and which were not there', () => {
  const whole = network([link(1, 1, 2, 1, 100), link(2, 1, 1, 1, 50), link(2, 2, 3, 1, 7), link(1, 3, 3, 3, 9)], [{ id: 1, hosts: 2 }, { id: 2 }, { id: 3 }]);
  const graph = graphAt(whole, {
    at: 5000, ms: 10_000, topology: network([link(1, 1, 2, 1, 10, 300), link(2, 1, 1, 1, 5, 900), link(2, 2, 3, 1, 0)], [{ id: 1, packets: 5 }, { id: 2, packets: 10 }]),
    queues: [{ node: 2, egress_port: 1, occupancy_max: 40 }, { node: 2, egress_port: 2, occupancy_max: 60 }], drops: [{ node: 2, egress_port: 2, packets: 3 }, { node: 2, egress_port: 7, packets: 1 }],
  });
  expect(graph.cables.map(({ key, packets, delayNs, drops, lastMs, gone }) => ({ key, packets, delayNs, drops, lastMs, gone }))).toEqual([
    { key: '1 2', packets: 15, delayNs: 900, drops: 0, lastMs: 5000, gone: false }, { key: '2 3', packets: 0, delayNs: null, drops: 3, lastMs: 0, gone: false },
    { key: '1 3', packets: 0, delayNs: null, drops: 0, lastMs: 0, gone: true },
  ]);
  expect(graph.stations).toEqual([
    { id: 1, name: 's1', hosts: 2, packets: 5, queue: null, drops: 0 }, { id: 2, name: 's2', hosts: 0, packets: 10, queue: 60, drops: 4 }, { id: 3, name: 's3', hosts: 0, packets: 0, queue: null, drops: 0 },
  ]);
  expect(graphAt(whole, undefined).cables.some((c) => c.lastMs > 0 || c.gone)).toBe(false); // as long as the moment is not known
});

test('the use of a cable is that of its busier port: the latest now, the mean of a moment', () => {
  const told = (l: Link, samples: number, mean: number, max: number, last?: number): Link => ({ ...l, utilization: { samples, mean, max, last } });
  const now = network([told(link(1, 1, 2, 4, 1), 5, 20, 90, 30), told(link(2, 4, 1, 1, 1), 5, 40, 80, 70), link(2, 5, 3, 1, 1)], [{ id: 1 }, { id: 2 }, { id: 3 }]);
  expect(graphOf(now, [], []).cables.map((c) => [c.use, c.sides.map((s) => s.told?.max)])).toEqual([[70, [90, 80]], [null, [undefined]]]);
  const at = (links: Link[]): (number | null)[] => graphAt(now, { at: 5000, ms: 10_000, topology: network(links, []), queues: [], drops: [] }).cables.map((c) => c.use);
  expect(at([told(link(1, 1, 2, 4, 1), 2, 12.5, 25), told(link(2, 5, 3, 1, 1), 1, 0, 0)])).toEqual([12.5, 0]);
  expect(at([link(1, 1, 2, 4, 1)])).toEqual([null, null]); // what was told at other times is not told of this one
});

test('a large picture is drawn in parts, a small one at once, and what is out of view not at all', () => {
  const paint = (leaves: number, spines: number, zoom: number, x: number): { parts: number; strokes: number } => {
    let strokes = 0;
    const context = new Proxy({ canvas: { width: 1000, height: 1000 }, font: '13px x', measureText: (text: string) => ({ width: 7 * text.length }) } as Record<string, unknown>, {
      get: (target, name: string) => target[name] ?? (() => { if (name === 'lineTo') strokes++; }), set: () => true,
    }) as unknown as CanvasRenderingContext2D;
    const links = Array.from({ length: leaves * spines }, (_, i) => link(1 + (i % leaves), 1, leaves + 1 + Math.floor(i / leaves), 1, 1));
    const graph = graphAt(network(links, Array.from({ length: leaves + spines }, (_, i) => ({ id: i + 1, hosts: i < leaves ? 1 : undefined }))), undefined);
    const places = new Map(layout(graph.nodes, graph.cables.map((c) => ({ from: c.a, to: c.b }))).map((p) => [p.id, p]));
    const scene: Scene = { graph, places, chosen: undefined, chosenCable: undefined, strongest: 0, deepest: 0, value: () => null };
    let parts = 1;
    for (const parting = painting(context, scene, { x, y: 800, zoom }, 1, () => '#000000'); !parting.next().done;) parts++;
    return { parts, strokes };
  };
  expect(paint(4, 2, 1, 500)).toEqual({ parts: 1, strokes: 8 });
  expect(paint(484, 16, 0.1, 500)).toEqual({ parts: 17, strokes: 7744 });
  expect(paint(484, 16, 0.1, -100_000)).toEqual({ parts: 1, strokes: 0 });
});

test('a queue of which no packet tells any more is not known', () => {
  const hop = (node: number, seconds: number, queue: number): NodeHop =>
    ({ node, ingress_port: 1, egress_port: 2, packets: 9, first: time, last: new Date(Date.parse(time) - seconds * 1000).toISOString(), queue: { id: 0, mean: 1, max: 68_500, last: queue } });
  const hops = queuesNow([hop(1, 38, 68_500), hop(1, 2, 400), hop(2, 38, 68_500)], Date.parse(time));
  expect(hops.map((h) => [h.queue?.last, h.queue?.max])).toEqual([[undefined, 68_500], [400, 68_500], [undefined, 68_500]]);
  expect(graphOf(network([], [{ id: 1 }, { id: 2 }]), hops, []).stations.map((s) => s.queue)).toEqual([400, null]);
});

test('the flows of a link are those that use it now', async () => {
  const ago = (seconds: number): string => new Date(Date.parse(time) - seconds * 1000).toISOString();
  const flow = (id: string, ...paths: [seconds: number, ...nodes: number[]][]) =>
    ({ id, last: ago(paths[0]![0]), paths: paths.map(([seconds, ...nodes]) => ({ id: '', packets: 1, first: time, last: ago(seconds), hops: nodes.map((node) => ({ node, ingress_port: 1, egress_port: 2 })) })) }) as unknown as Flow;
  // The largest first, as the API answers.
  const all = [
    ...Array.from({ length: 300 }, (_, i) => flow(`over spine 7 now ${i}`, [1, 1, 7, 2], [60, 1, 6, 2])), flow('over', [90, 1, 6, 2]), flow('a way around', [1, 1, 5, 6, 2]), flow('forth', [1, 1, 6, 2]), flow('back', [2, 2, 6, 1], [60, 2, 7, 1]),
  ];
  const ask = async (params: Record<string, unknown>) => {
    const nodes = [...String(params.filter).matchAll(/node = (\d+)/g)].map((m) => Number(m[1]));
    expect(params.filter).toContain('last > now-30s');
    const found = all.filter((f) => Date.parse(f.last) > Date.parse(ago(30)) && nodes.every((node) => f.paths!.some((path) => path.hops!.some((h) => h.node === node))));
    const from = Number(params.cursor || 0);
    return { generated_at: time, total: found.length, flows: found.slice(from, from + Number(params.limit)), next_cursor: from + Number(params.limit) < found.length ? String(from + Number(params.limit)) : undefined };
  };
  expect((await flowsNow([1, 6], ask)).map((f) => f.id)).toEqual(['forth', 'back']);
  expect((await flowsNow([5], ask)).map((f) => f.id)).toEqual(['a way around']);
});
