import { expect, test } from 'vitest';
import type { PathHop } from '../src/api/types';
import { lanesOf } from '../src/pages/flow/band';
import { selects, viewsOf } from '../src/pages/flow/overtime';

const hop = (
  node: number | null,
  ingress_port: number | null,
  egress_port: number | null,
  more: Partial<PathHop> = {},
): PathHop => ({ node, ingress_port, egress_port, ...more });
const time = (id: string, start: string, hops: PathHop[]) => ({ id, start, end: start, packets: 1, hops });

test('a flow is looked at on all of its paths together, and at each hop once', () => {
  const lanes = lanesOf([
    time('a1', '2026-11-21T09:00:00Z', [hop(1, 3, 1), hop(null, null, null, { missing: 1 }), hop(2, 1, 3)]),
    time('b2', '2026-11-21T09:01:00Z', [hop(1, 3, 2), hop(2, 1, 3)]),
    time('c3', '2026-11-21T09:02:00Z', [hop(1, 3, null, { dropped: true })]),
    time('', '2026-11-21T09:03:00Z', []),
  ]);
  const views = viewsOf(lanes, (h) => `n${h.node}`);
  expect(views.map((v) => [v.key, v.title])).toEqual([
    ['', 'all nodes together'],
    ['1-3-1', 'n1'],
    ['2-1-3', 'n2'],
    ['1-3-2', 'n1'],
  ]);
  expect(selects(views[0]!, lanes)).toEqual({ of: 'paths', filter: 'id in ("a1", "b2", "c3")' });
  expect(selects(views[1]!, lanes)).toEqual({
    of: 'hops',
    filter: 'node = 1 and ingress_port = 3 and egress_port = 1',
  });
  expect(selects({ ...views[1]!, hop: hop(1, null, 4) }, lanes)?.filter).toBe('node = 1 and egress_port = 4');
  expect(selects(views[0]!, lanesOf([time('', '2026-11-21T09:00:00Z', [])]))).toBe(null); // no path is known: there is nothing to ask
  expect(lanesOf([{ ...time('', '2026-11-21T09:00:00Z', []), packets: 0 }])).toEqual([]); // nor is any unknown
});

test('a lane says that its path ends in a drop, and what tells it from another between the same nodes', () => {
  const [start, named] = [
    '2026-11-21T09:00:00Z',
    (node: number, more: Partial<PathHop>, out = 1) => hop(node, 3, out, { name: `leaf${node}`, ...more }),
  ];
  const lanes = lanesOf([
    time('a', start, [named(1, {}), named(2, {})]),
    time('b', start, [named(1, { dropped: true })]),
    time('c', start, [named(1, {}, 2), named(2, {})]),
    time('d', start, [named(3, {})]),
  ]);
  expect(lanes.map((lane) => lane.label)).toEqual([
    'leaf1 (in 3 out 1) → leaf2 (in 3 out 1)',
    'leaf1, dropped there',
    'leaf1 (in 3 out 2) → leaf2 (in 3 out 1)',
    'leaf3',
  ]);
});
