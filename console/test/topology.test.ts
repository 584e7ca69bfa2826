import { expect, test } from 'vitest';
import type { Drop, Flow, Link, NodeHop, Topology } from '../src/api/types';
import { rowsOf } from '../src/lib/layers';
import { boxHeight, boxWidth, fit, parseView, sayView } from '../src/pages/topology/fit';
import { painting, type Scene } from '../src/pages/topology/paint';
import { flowsNow } from '../src/pages/topology/flows';
import { findPlace, placesOf } from '../src/pages/topology/find';
import { hostsOf, hostsText } from '../src/pages/topology/hosts';
import { blindText, graphAt, graphOf, growth, lostAt, markLost, overOf, queuesNow } from '../src/pages/topology/model';
import { Recent } from '../src/pages/topology/recent';
import { latestWhole, writtenOf } from '../src/pages/topology/pieces';

const time = '2026-11-21T09:00:00Z';
const link = (from: number, from_port: number, to: number, to_port: number, packets: number, mean?: number): Link => ({
  from,
  from_port,
  to,
  to_port,
  packets,
  first: time,
  last: time,
  confidence: 0.99,
  delay:
    mean === undefined
      ? null
      : { ns: { count: 1, min: mean, mean, max: mean, p50: mean, p99: mean, relative_error: 0 } },
});
const network = (links: Link[], nodes: { id: number; packets?: number; hosts?: number }[]): Topology => ({
  generated_at: time,
  total: nodes.length,
  links,
  hosts: [],
  nodes: nodes.map(({ id, packets = 0, hosts }) => ({
    id,
    name: `s${id}`,
    packets,
    first: time,
    last: time,
    ports: [{ port: 9, hosts, received: 0, sent: 0, first: time, last: time }],
  })),
});

test('the graph of a moment has all cables of the range, and says which carried nothing and which were not there', () => {
  const whole = network(
    [link(1, 1, 2, 1, 100), link(2, 1, 1, 1, 50), link(2, 2, 3, 1, 7), link(1, 3, 3, 3, 9)],
    [{ id: 1, hosts: 2 }, { id: 2 }, { id: 3 }],
  );
  const graph = graphAt(whole, {
    at: 5000,
    ms: 10_000,
    topology: network(
      [link(1, 1, 2, 1, 10, 300), link(2, 1, 1, 1, 5, 900), link(2, 2, 3, 1, 0)],
      [
        { id: 1, packets: 5 },
        { id: 2, packets: 10 },
      ],
    ),
    queues: [
      { node: 2, egress_port: 1, occupancy_max: 40, unit: 'bytes' },
      { node: 2, egress_port: 2, occupancy_max: 60, unit: 'bytes' },
    ],
    drops: [
      { node: 2, egress_port: 2, packets: 3 },
      { node: 2, egress_port: 7, packets: 1 },
    ],
  });
  expect(
    graph.cables.map(({ key, packets, delayNs, drops, lastMs, gone }) => ({
      key,
      packets,
      delayNs,
      drops,
      lastMs,
      gone,
    })),
  ).toEqual([
    { key: '1 2', packets: 15, delayNs: 900, drops: 0, lastMs: 5000, gone: false },
    { key: '2 3', packets: 0, delayNs: null, drops: 3, lastMs: 0, gone: false },
    { key: '1 3', packets: 0, delayNs: null, drops: 0, lastMs: 0, gone: true },
  ]);
  expect(graph.stations).toEqual([
    {
      id: 1,
      name: 's1',
      hosts: 2,
      packets: 5,
      queue: null,
      unit: undefined,
      filled: 0,
      sized: false,
      full: false,
      drops: 0,
    },
    {
      id: 2,
      name: 's2',
      hosts: 0,
      packets: 10,
      queue: 60,
      unit: 'bytes',
      filled: 1,
      sized: false,
      full: false,
      drops: 4,
    },
    {
      id: 3,
      name: 's3',
      hosts: 0,
      packets: 0,
      queue: null,
      unit: undefined,
      filled: 0,
      sized: false,
      full: false,
      drops: 0,
    },
  ]);
  expect(graphAt(whole, undefined).cables.some((c) => c.lastMs > 0 || c.gone)).toBe(false); // as long as the moment is not known
});

test('each direction of a cable has what goes by it, and is lost by itself', () => {
  const graph = graphOf(
    network([link(1, 1, 2, 1, 100), link(1, 2, 2, 2, 7), link(2, 1, 1, 1, 50)], [{ id: 1 }, { id: 2 }]),
    [],
    [],
    [],
  );
  const halves = graph.cables[0]!.halves;
  expect(halves.map((h) => [h.from, h.to, h.packets])).toEqual([
    [1, 2, 107],
    [2, 1, 50],
  ]);
  const before = structuredClone(graph);
  before.cables[0]!.halves[0].packets -= 20;
  expect([...growth(graph, 2000, before, 0)]).toEqual([
    ['1 2', 0],
    ['1 > 2', 10],
    ['2 > 1', 0],
  ]);
  markLost(graph, [
    { kind: 'link_lost', node: 2, to_node: 1 },
    { kind: 'clock_jump', node: 1, to_node: 2 },
  ]);
  expect([graph.cables[0]!.lost, ...halves.map((h) => h.lost)]).toEqual([true, false, true]);
  const path = [3, 1, null, 2, 1].map((node) => ({ node }));
  expect([...overOf([path, [{ node: 9 }]])]).toEqual(['1 3', '1 2']);
});

test('the use of a cable is that of its busier port: the latest now, the mean of a moment', () => {
  const told = (l: Link, samples: number, mean: number, max: number, last?: number): Link => ({
    ...l,
    utilization: { unit: 'unknown', samples, mean, max, last },
  });
  const now = network(
    [told(link(1, 1, 2, 4, 1), 5, 20, 90, 30), told(link(2, 4, 1, 1, 1), 5, 40, 80, 70), link(2, 5, 3, 1, 1)],
    [{ id: 1 }, { id: 2 }, { id: 3 }],
  );
  expect(graphOf(now, [], [], []).cables.map((c) => [c.use, c.sides.map((s) => s.told?.max)])).toEqual([
    [70, [90, 80]],
    [null, [undefined]],
  ]);
  // A link that failed is used by nobody knows how much; what was the most remains.
  const over = { ...now, generated_at: new Date(Date.parse(time) + 11_000).toISOString() };
  expect(graphOf(over, [], [], []).cables.map((c) => [c.use, c.sides.map((s) => s.told?.max)])).toEqual([
    [null, [90, 80]],
    [null, [undefined]],
  ]);
  const at = (links: Link[]): (number | null)[] =>
    graphAt(now, { at: 5000, ms: 10_000, topology: network(links, []), queues: [], drops: [] }).cables.map(
      (c) => c.use,
    );
  expect(at([told(link(1, 1, 2, 4, 1), 2, 12.5, 25), told(link(2, 5, 3, 1, 1), 1, 0, 0)])).toEqual([12.5, 0]);
  expect(at([link(1, 1, 2, 4, 1)])).toEqual([null, null]); // what was told at other times is not told of this one
});

test('a large picture is drawn in parts, a small one at once, and what is out of view not at all', () => {
  const paint = (leaves: number, spines: number, zoom: number, x: number): { parts: number; strokes: number } => {
    let strokes = 0;
    const context = new Proxy(
      {
        canvas: { width: 1000, height: 1000 },
        font: '13px x',
        measureText: (text: string) => ({ width: 7 * text.length }),
      } as Record<string, unknown>,
      {
        get: (target, name: string) =>
          target[name] ??
          (() => {
            if (name === 'lineTo') strokes++;
          }),
        set: () => true,
      },
    ) as unknown as CanvasRenderingContext2D;
    const links = Array.from({ length: leaves * spines }, (_, i) =>
      link(1 + (i % leaves), 1, leaves + 1 + Math.floor(i / leaves), 1, 1),
    );
    const graph = graphAt(
      network(
        links,
        Array.from({ length: leaves + spines }, (_, i) => ({ id: i + 1, hosts: i < leaves ? 1 : undefined })),
      ),
      undefined,
    );
    const { places } = fit(
      rowsOf(
        graph.nodes,
        graph.cables.map((c) => ({ from: c.a, to: c.b })),
      ),
      { width: 500, height: 500, above: 40, below: 40, scale: 1 },
    );
    const scene: Scene = {
      scale: 1,
      graph,
      places,
      chosen: undefined,
      chosenCable: undefined,
      strongest: 0,
      value: () => null,
    };
    let parts = 1;
    for (const parting = painting(context, scene, { x, y: 800, zoom }, 1, () => '#000000'); !parting.next().done;)
      parts++;
    return { parts, strokes };
  };
  expect(paint(4, 2, 1, 500)).toEqual({ parts: 1, strokes: 16 }); // each direction is half of a link
  expect(paint(484, 16, 0.1, 500)).toEqual({ parts: 17, strokes: 7744 });
  expect(paint(484, 16, 0.1, -100_000)).toEqual({ parts: 1, strokes: 0 });
});

test('a queue of which no packet tells any more is not known', () => {
  const hop = (node: number, seconds: number, queue: number): NodeHop => ({
    node,
    ingress_port: 1,
    egress_port: 2,
    packets: 9,
    first: time,
    last: new Date(Date.parse(time) - seconds * 1000).toISOString(),
    queue: { id: 0, mean: 1, max: 68_500, last: queue },
  });
  const hops = queuesNow([hop(1, 38, 68_500), hop(1, 2, 400), hop(2, 38, 68_500)], Date.parse(time));
  expect(hops.map((h) => [h.queue?.last, h.queue?.max])).toEqual([
    [undefined, 68_500],
    [400, 68_500],
    [undefined, 68_500],
  ]);
  expect(graphOf(network([], [{ id: 1 }, { id: 2 }]), hops, [], []).stations.map((s) => s.queue)).toEqual([400, null]);
});

test('the flows of a link are those that use it now', async () => {
  const ago = (seconds: number): string => new Date(Date.parse(time) - seconds * 1000).toISOString();
  const flow = (id: string, ...paths: [seconds: number, ...nodes: number[]][]) =>
    ({
      id,
      last: ago(paths[0]![0]),
      paths: paths.map(([seconds, ...nodes]) => ({
        id: '',
        packets: 1,
        first: time,
        last: ago(seconds),
        hops: nodes.map((node) => ({ node, ingress_port: 1, egress_port: 2 })),
      })),
    }) as unknown as Flow;
  // The largest first, as the API answers.
  const all = [
    ...Array.from({ length: 300 }, (_, i) => flow(`over spine 7 now ${i}`, [1, 1, 7, 2], [60, 1, 6, 2])),
    flow('over', [90, 1, 6, 2]),
    flow('a way around', [1, 1, 5, 6, 2]),
    flow('forth', [1, 1, 6, 2]),
    flow('back', [2, 2, 6, 1], [60, 2, 7, 1]),
  ];
  const ask = async (params: Record<string, unknown>) => {
    const nodes = [...String(params.filter).matchAll(/node = (\d+)/g)].map((m) => Number(m[1]));
    expect(params.filter).toContain('last > now-30s');
    const found = all.filter(
      (f) =>
        Date.parse(f.last) > Date.parse(ago(30)) &&
        nodes.every((node) => f.paths!.some((path) => path.hops!.some((h) => h.node === node))),
    );
    const from = Number(params.cursor || 0);
    return {
      generated_at: time,
      total: found.length,
      flows: found.slice(from, from + Number(params.limit)),
      next_cursor: from + Number(params.limit) < found.length ? String(from + Number(params.limit)) : undefined,
    };
  };
  expect((await flowsNow([1, 6], ask)).map((f) => f.id)).toEqual(['forth', 'back']);
  expect((await flowsNow([5], ask)).map((f) => f.id)).toEqual(['a way around']);
});

const clos = (leaves: number, spines: number): number[][] => [
  Array.from({ length: leaves }, (_, i) => i + 1),
  Array.from({ length: spines }, (_, i) => leaves + i + 1),
];

test('a graph is in its frame, its nodes apart, and a small one can be read on any screen', () => {
  const frames = {
    phone: { width: 364, height: 648, above: 40, below: 70, scale: 1 },
    laptop: { width: 1240, height: 676, above: 40, below: 40, scale: 1 },
    large: { width: 3600, height: 1880, above: 56, below: 56, scale: 20 / 14 },
  };
  for (const [name, frame] of Object.entries(frames)) {
    for (const rows of [
      clos(4, 2),
      clos(8, 4),
      clos(3, 0),
      [[1]],
      clos(40, 8),
      clos(484, 16),
      [
        [1, 2, 3, 4, 5, 6, 7, 8],
        [9, 10, 11, 12, 13, 14, 15, 16],
        [17, 18, 19, 20],
      ],
    ]) {
      const { places, view } = fit(rows, frame);
      const at = [...places.values()];
      const said = `${name}, ${rows.map((row) => row.length).join(' and ')}`;
      for (const p of at) {
        const [x, y] = [view.x + view.zoom * p.x, view.y + view.zoom * p.y];
        expect(x - (view.zoom * boxWidth) / 2, said).toBeGreaterThanOrEqual(-0.5);
        expect(x + (view.zoom * boxWidth) / 2, said).toBeLessThanOrEqual(frame.width + 0.5);
        expect(y - (view.zoom * boxHeight) / 2, said).toBeGreaterThanOrEqual(frame.above - 0.5);
        expect(y + (view.zoom * boxHeight) / 2, said).toBeLessThanOrEqual(frame.height - frame.below + 0.5);
      }
      expect(
        at.filter((p) => at.some((q) => p !== q && Math.abs(p.x - q.x) < boxWidth && Math.abs(p.y - q.y) < boxHeight)),
        said,
      ).toEqual([]);
      if (at.length <= 6) expect((13 * view.zoom) / frame.scale, said).toBeGreaterThanOrEqual(10);
      if (at.length <= 20) expect(view.zoom / frame.scale, said).toBeGreaterThanOrEqual(0.35); // the name is written
    }
  }
  // A panel beside it does not move nodes to other lines.
  const lines = (width: number): number =>
    new Set([...fit(clos(4, 2), { ...frames.laptop, width }).places.values()].map((p) => p.y)).size;
  expect([lines(1240), lines(820), lines(364)]).toEqual([2, 2, 3]);
});

test('a part of a graph is the same part in another frame', () => {
  const frames = [
    { width: 364, height: 648, above: 40, below: 70, scale: 1 },
    { width: 3600, height: 1880, above: 56, below: 56, scale: 20 / 14 },
  ];
  for (const rows of [clos(4, 2), clos(484, 16), [[1]], []]) {
    for (const frame of frames) {
      const best = fit(rows, frame);
      const view = { x: best.view.x - 123.4, y: best.view.y + 56.7, zoom: Math.min(4, best.view.zoom * 1.7) };
      const said = sayView(view, best, frame);
      const again = parseView(said, best, frame)!;
      for (const name of ['x', 'y'] as const) expect(Math.abs(again[name] - view[name]), said).toBeLessThan(1);
      expect(again.zoom / view.zoom, said).toBeCloseTo(1, 3);
    }
    const [a, b] = frames.map((frame) => ({ frame, best: fit(rows, frame) })) as [
      { frame: (typeof frames)[0]; best: ReturnType<typeof fit> },
      { frame: (typeof frames)[0]; best: ReturnType<typeof fit> },
    ];
    const said = sayView({ ...a.best.view, zoom: a.best.view.zoom * 1.2 }, a.best, a.frame);
    expect(
      sayView(parseView(said, b.best, b.frame)!, b.best, b.frame)
        .split(',')
        .map(Number),
    ).toEqual(said.split(',').map((n) => expect.closeTo(Number(n), 3)));
  }
  const best = fit(clos(4, 2), frames[0]!);
  for (const text of ['', '1', '1,0.5', 'x,0,0', '1,NaN,0', '1e9,0,0', '-1,0,0', '1,1e9,0', '0,0,0'])
    expect(parseView(text, best, frames[0]!), text).toBeUndefined();
});

test('names are written with 10 px or more, for the usual text, or not at all', () => {
  const written = (zoom: number, scale: number): number[] => {
    const sizes: number[] = [];
    const context = {
      canvas: { width: 1000, height: 1000 },
      font: '13px x',
      measureText: (text: string) => ({ width: 7 * text.length }),
      fillText(): void {
        sizes.push(Number.parseFloat(/[\d.]+px/.exec(this.font)![0]));
      },
    };
    const painted = new Proxy(context as unknown as CanvasRenderingContext2D, {
      get: (target, name) => target[name as 'font'] ?? (() => undefined),
    });
    const graph = graphAt(network([link(1, 1, 2, 1, 1)], [{ id: 1, hosts: 1 }, { id: 2 }]), undefined);
    const { places } = fit([[1], [2]], { width: 500, height: 500, above: 40, below: 40, scale });
    const scene: Scene = {
      scale,
      graph,
      places,
      chosen: undefined,
      chosenCable: undefined,
      strongest: 0,
      value: () => null,
    };
    expect(painting(painted, scene, { x: 400, y: 600, zoom }, 1, () => '#000000').next().done).toBe(true);
    return sizes.map((size) => size * zoom);
  };
  for (const scale of [1, 20 / 14]) {
    for (const zoom of [0.36, 0.5, 0.76, 0.8, 1, 2]) {
      const sizes = written(zoom * scale, scale);
      expect(sizes.length, `${zoom}`).toBe(zoom > 0.77 ? 5 : 2); // two names, and then packets of both and the addresses of one
      expect(Math.min(...sizes), `${zoom}`).toBeGreaterThanOrEqual(10 * scale - 0.01);
    }
    expect(written(0.3 * scale, scale)).toEqual([]);
  }
});

test('drops of the last minute, of counts since the start', () => {
  const at = (s: number): number => Date.parse(time) + s * 1000;
  const drop = (egress_port: number, packets: number, first: number, last: number): Drop =>
    ({
      node: 1,
      ingress_port: 1,
      egress_port,
      reason: 3,
      packets,
      first: new Date(at(first)).toISOString(),
      last: new Date(at(last)).toISOString(),
    }) as unknown as Drop;
  const recent = new Recent();
  const read = (s: number, ...drops: Drop[]): unknown[] => {
    const answer = recent.read(drops, at(s));
    return [...answer.drops.map((d) => d.packets), answer.shortMs];
  };
  // Port 1 dropped yesterday, port 2 began 20 s ago: nothing has to be seen for that.
  expect(read(0, drop(1, 5000, -90_000, -86_400), drop(2, 7, -20, -1))).toEqual([0, 7, null]);
  // Port 3 drops for an hour: how many of them within the minute is known from now on.
  expect(read(2, drop(1, 5000, -90_000, -86_400), drop(2, 8, -20, 1), drop(3, 900, -3600, 2))).toEqual([0, 8, 0, 2000]);
  expect(read(4, drop(2, 8, -20, 1), drop(3, 910, -3600, 4))).toEqual([8, 10, 4000]);
  for (let s = 6; s < 60; s += 2) read(s, drop(2, 8, -20, 1), drop(3, 910 + s, -3600, s));
  // After a minute all is known; what was dropped before it does not count any more.
  expect(read(60, drop(2, 8, -20, 1), drop(3, 1000, -3600, 60))).toEqual([1, 100, null]);
  expect(read(62, drop(2, 8, -20, 1), drop(3, 1000, -3600, 60))).toEqual([0, 100, null]);
  expect(read(64, drop(2, 8, -20, 1), drop(3, 1000, -3600, 60))).toEqual([0, 90, null]); // without the 10 of the first seconds
  // The server began anew, and counts from 0 again.
  expect(read(66, drop(3, 4, 65, 66))).toEqual([4, null]);
  // The page was hidden for five minutes: what was dropped meanwhile is of no known time.
  expect(read(366, drop(3, 5000, 65, 366))).toEqual([0, 0]);
});

test('the graph has the drops of the minute, and tells those of all time', () => {
  const drop = (egress_port: number, packets: number): Drop => ({ node: 1, egress_port, packets }) as unknown as Drop;
  const { stations, cables } = graphOf(
    network([link(1, 1, 2, 1, 5), link(2, 1, 1, 1, 5), link(1, 2, 3, 1, 5)], [{ id: 1 }, { id: 2 }, { id: 3 }]),
    [],
    [drop(1, 0), drop(2, 3)],
    [drop(1, 5000), drop(2, 10)],
  );
  expect(stations.map((s) => s.drops)).toEqual([3, 0, 0]);
  expect(cables.map((c) => [c.drops, c.sides.map((s) => s.dropsInAll)])).toEqual([
    [0, [5000, 0]],
    [3, [10]],
  ]);
});

test('a replay begins with the latest piece of which all is on disk', () => {
  // Pieces of 10 s from 100 s on; the fifth has just begun, and the fourth is not written yet.
  expect([139_999, 130_000, 129_999, 141_000].map((written) => latestWhole(100_000, 10_000, 5, written))).toEqual([
    2, 2, 1, 3,
  ]);
  expect(latestWhole(100_000, 10_000, 5, 150_000)).toBe(4); // a range that is over: to its end
  expect([95_000, 105_000].map((written) => latestWhole(100_000, 10_000, 1, written))).toEqual([0, 0]);
});

test('all answers together go as far as the one that ends first', () => {
  expect(writtenOf([{ until: '2026-11-21T09:00:10Z' }, { until: '2026-11-21T09:00:07.5Z' }])).toBe(
    Date.parse('2026-11-21T09:00:07.500Z'),
  );
});

test('a queue is measured against its size, or the longest that was met there', () => {
  const hop = (node: number, egress_port: number, last: number, max: number): NodeHop => ({
    node,
    ingress_port: 1,
    egress_port,
    packets: 9,
    first: time,
    last: time,
    queue: { id: 0, mean: 1, max, last, unit: 'bytes' },
  });
  const hops = [hop(1, 1, 50, 100), hop(1, 2, 30, 40), hop(2, 1, 50, 200)];
  const nodes = network([], [{ id: 1 }, { id: 2 }, { id: 3 }]);
  const size: Record<string, number> = { '1 1': 1000, '1 2': 32 };
  const filled = (node: number, port: number | null | undefined, depth: number | undefined): number | null =>
    size[`${node} ${port}`] && depth !== undefined ? depth / size[`${node} ${port}`]! : null;
  const said = (graph: ReturnType<typeof graphOf>): unknown[] =>
    graph.stations.map((s) => [s.queue, s.filled, s.sized, s.full]);
  // The longest queue of node 1 is not its fullest.
  expect(said(graphOf(nodes, hops, [], [], filled))).toEqual([
    [50, 30 / 32, true, true],
    [50, 0.25, false, false],
    [null, 0, false, false],
  ]);
  // Where the size of only one port is known, the others count by the longest.
  expect(said(graphOf(nodes, [hop(1, 1, 50, 100), hop(1, 3, 80, 100)], [], [], filled))[0]).toEqual([
    80,
    0.8,
    true,
    false,
  ]);
  const moment = { at: 0, ms: 1, topology: nodes, drops: [] };
  const queues = [
    { node: 1, egress_port: 2, occupancy_max: 40, unit: 'bytes' },
    { node: 2, egress_port: 1, occupancy_max: 50, unit: 'bytes' },
  ];
  const ever = [{ node: 2, occupancy_max: 400 }];
  expect(said(graphAt(nodes, { ...moment, queues }, ever, filled))).toEqual([
    [40, 1, true, true],
    [50, 0.125, false, false],
    [null, 0, false, false],
  ]);
});

test('a direction is used nearly in full only where the unit says so', () => {
  const told = (l: Link, unit: string, last: number): Link => ({
    ...l,
    utilization: { unit, samples: 1, mean: last, max: last, last },
  });
  const graph = graphOf(
    network(
      [
        told(link(1, 1, 2, 1, 1), 'share:10000', 9000),
        told(link(2, 1, 1, 1, 1), 'share:10000', 8999),
        told(link(1, 2, 3, 1, 1), 'unknown', 10_000),
      ],
      [{ id: 1 }, { id: 2 }, { id: 3 }],
    ),
    [],
    [],
    [],
  );
  expect(graph.cables.map((c) => [c.busy, ...c.halves.map((h) => h.busy)])).toEqual([
    [true, true, false],
    [false, false, false],
  ]);
});

test('where nobody would notice lost packets', () => {
  const loss = { confidence: 0.95, lost: 0, sent: 0, share: null, lower: null, upper: null };
  const graph = graphOf(
    network(
      [
        { ...link(1, 1, 2, 1, 1), loss: { ...loss, unknown: 'nothing tells of it' } },
        { ...link(2, 1, 1, 1, 1), loss: { ...loss, share: 0, lower: 0, upper: 0.1, method: 'tcp' } },
        link(1, 2, 3, 1, 1), // of the past: nothing is said
      ],
      [{ id: 1 }, { id: 2 }, { id: 3 }],
    ),
    [],
    [],
    [],
  );
  expect(graph.cables.map((c) => c.halves.map((h) => h.blind))).toEqual([
    ['nothing tells of it', ''],
    ['', ''],
  ]);
  expect(blindText(graph)).toBe('1 of 3 directions');
});

test('links that were lost at a moment', () => {
  const event = (kind: string, start: number, end: number | null) => ({
    kind,
    start: new Date(start).toISOString(),
    end: end === null ? null : new Date(end).toISOString(),
  });
  const events = [
    event('link_lost', 1000, 2000),
    event('link_lost', 3000, null),
    event('clock_jump', 1000, null),
    event('link_lost', 9000, 9500),
  ];
  expect(lostAt(events, 1500, 2500).map((e) => e.start)).toEqual([events[0]!.start]);
  expect(lostAt(events, 2000, 3000)).toEqual([]);
  expect(lostAt(events, 5000, 9001).map((e) => e.start)).toEqual([events[1]!.start, events[3]!.start]);
});

test('hosts by the ports that they are behind, and the places that a few words mean', () => {
  const place = (node: number, port: number | null) => ({
    node,
    port,
    confidence: 1,
    packets: 1,
    first: time,
    last: time,
  });
  const behind = hostsOf([
    { address: '10.0.1.10', places: [place(1, 3)] },
    { address: '10.0.1.9', places: [place(1, 3)] },
    { address: '10.0.1.2', host_name: 'h1', places: [place(1, 2)] },
    { address: 'fd00::2', host_name: 'h1', places: [place(1, 2)] },
    { address: '192.168.0.1', tunnel: 'vxlan', places: [place(1, 2)] },
    { address: '192.168.0.2', tunnel: 'vxlan', places: [place(2, null)] },
  ]);
  expect([...behind].map(([node, ports]) => [node, ...ports.map((at) => `${at.port}: ${hostsText(at)}`)])).toEqual([
    [1, '2: h1', '3: 10.0.1.9 and 1 more'],
    [2, 'null: 192.168.0.2'],
  ]);
  const { stations } = graphOf(network([], [{ id: 1 }, { id: 2 }, { id: 12 }]), [], [], []);
  const places = placesOf(stations, behind);
  const found = (text: string): unknown => findPlace(places, text)?.node;
  expect(['s1', 'S12', '12', 'h1', 'fd00::2', '168.0.2', ' s', 'nothing', ''].map(found)).toEqual([
    1,
    12,
    12,
    1,
    1,
    2,
    1,
    undefined,
    undefined,
  ]);
});
