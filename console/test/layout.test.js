import assert from 'node:assert/strict';
import test from 'node:test';
import { layersOf } from '../page/layers.js';
import { layout, nodeWidth } from '../page/layout.js';

let clock = 0;
const path = (...nodes) => ({
  id: nodes.join('-'),
  first: new Date(1000 * clock++).toISOString(),
  packets: 10,
  hops: nodes.map((node) => (node === null ? { node, missing: 1, ingress_port: null, egress_port: null } : { node, ingress_port: 1, egress_port: 2 })),
});
const link = (from, from_port, to, to_port, packets = 10) => ({ from, from_port, to, to_port, packets });
const data = (paths, links) => ({ nodes: [], paths, links });
const layers = (ids, paths, links = []) => ids.map((id) => layersOf(ids, paths, links).get(id));

test('a chain is a row, also with traffic in both directions', () => {
  assert.deepEqual(layers([1, 2, 3], [path(1, 2, 3)]), [0, 1, 2]);
  assert.deepEqual(layers([1, 2, 3], [path(1, 2, 3), path(3, 2, 1)]), [0, 1, 2]);
  assert.deepEqual(layers([1, 2, 3], [path(2, 3), path(1, 2, 3)]), [0, 1, 2]);
});

test('silent nodes do not tear a path apart', () => {
  assert.deepEqual(layers([1, 3, 4], [path(1, null, 3, 4)]), [0, 1, 2]);
});

test('leaves and spines stay in their layers when everyone talks with everyone', () => {
  const [leaves, spines] = [[1, 2, 3, 4], [11, 12]];
  const paths = leaves.flatMap((a) => leaves.filter((b) => b !== a).map((b) => path(a, spines[(a + b) % 2], b)));
  assert.deepEqual(layers([...leaves, ...spines], paths), [0, 2, 2, 2, 1, 1]);
});

test('a source stands before the first node that it sends to', () => {
  assert.deepEqual(layers([1, 2, 3, 4, 9], [path(1, 2, 3, 4), path(9, 4)]), [0, 1, 2, 3, 2]);
});

test('nodes that only links or drops know have a place', () => {
  assert.deepEqual(layers([1, 2, 5], [], [link(2, 1, 1, 1)]), [1, 0, 0]);
  const plan = layout({ nodes: [{ id: 9 }], links: [], paths: [] }, 800);
  assert.equal(plan.nodes.length, 1);
  assert.ok(plan.width > 0 && plan.height > 0);
  assert.deepEqual(layout(data([], []), 800), { width: 0, height: 0, nodes: [], cables: [] });
});

const fabric = () => {
  const paths = [path(1, 11, 2), path(2, 11, 1), path(1, 12, 3), path(3, 12, 1), path(1, null, 4), path(4, 11, 2, 5, 6), path(1, 6)];
  const links = paths.flatMap(({ hops }) => hops.slice(1).map((hop, i) => [hops[i], hop]))
    .filter(([a, b]) => a.node !== null && b.node !== null)
    .map(([a, b]) => link(a.node, 100 + b.node, b.node, 100 + a.node));
  return data(paths, [...links, link(2, 7, 3, 7), link(5, 9, 5, 9)]);
};

test('nodes do not overlap and cables end at their nodes', () => {
  const plan = layout(fabric(), 1200);
  for (const a of plan.nodes) {
    assert.ok(a.x - nodeWidth / 2 >= 0 && a.x + nodeWidth / 2 <= plan.width && a.y - a.height / 2 >= 0 && a.y + a.height / 2 <= plan.height);
    for (const b of plan.nodes) {
      assert.ok(a === b || Math.abs(a.x - b.x) >= nodeWidth || Math.abs(a.y - b.y) >= (a.height + b.height) / 2, `${a.id} and ${b.id}`);
    }
  }
  const at = new Map(plan.nodes.map((node) => [node.id, node]));
  for (const cable of plan.cables) {
    for (const [end, point] of [[cable.a, cable.start], [cable.b, cable.end]]) {
      const node = at.get(end.node);
      assert.equal(Math.abs(point.x - node.x), nodeWidth / 2);
      assert.ok(Math.abs(point.y - node.y) <= node.height / 2);
    }
    assert.ok(!cable.d.includes('NaN'), cable.d);
  }
});

test('the two directions of a cable are one', () => {
  const { cables } = layout(data([path(1, 2)], [link(1, 2, 2, 3, 50), link(2, 3, 1, 2, 40), link(1, 4, 2, 5, 1)]), 800);
  assert.deepEqual(cables.map(({ key, forward, backward }) => [key, forward, backward]), [['1/2/2/3/0', 50, 40], ['1/4/2/5/0', 1, null]]);
});

test('silent nodes are a cable of their own', () => {
  const { cables } = layout(data([path(1, null, null, 3)], []), 800);
  assert.deepEqual(cables.map(({ silent, forward }) => [silent, forward]), [[2, 10]]);
});

test('the picture does not depend on counters or on the order of the answers', () => {
  clock = 0;
  const one = layout(fabric(), 1200);
  clock = 0;
  const other = fabric();
  other.links.reverse().forEach((l) => { l.packets *= 7; });
  other.paths.reverse().forEach((p) => { p.packets *= 3; });
  const shape = (plan) => [plan.nodes.map(({ id, x, y, height }) => [id, x, y, height]), plan.cables.map(({ key, d }) => [key, d])];
  assert.deepEqual(shape(layout(other, 1200)), shape(one));
});

test('layers move together where there is little room', () => {
  const chain = data([path(1, 2, 3, 4, 5)], []);
  assert.ok(layout(chain, 1200).width <= 1200);
  assert.ok(layout(chain, 2000).width > 1200);
});
