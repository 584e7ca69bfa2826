import { steps } from './select.js';

// layersOf gives every node a layer: packets go from low to high ones. Layers are longest paths, in the order of the
// packets' paths.
//
// Traffic goes both ways, so that not every path can be followed. The oldest path comes first, and a path is followed
// only if it brings a node that was not seen yet: the picture changes only when something new is learned.
export function layersOf(ids, paths, links) {
  const next = new Map(ids.map((id) => [id, new Set()]));
  const seen = new Set();
  const routes = [
    ...[...paths].sort(oldestFirst).filter((path) => !path.uncertain).map((path) => steps(path.hops)),
    ...[...links].sort((a, b) => a.from - b.from || a.to - b.to).map((link) => [{ from: { node: link.from }, to: { node: link.to } }]),
  ];
  for (const route of routes) {
    const nodes = route.flatMap(({ from, to }) => [from.node, to.node]);
    if (nodes.every((id) => seen.has(id))) continue;
    for (const { from, to } of route) {
      if (!reaches(next, to.node, from.node)) next.get(from.node).add(to.node);
    }
    nodes.forEach((id) => seen.add(id));
  }
  return longestPaths(ids, next);
}

const oldestFirst = (a, b) => Date.parse(a.first) - Date.parse(b.first) || (a.id < b.id ? -1 : 1);

function reaches(next, from, to) {
  const seen = new Set([from]);
  for (const id of seen) { // a Set is walked up to what is added meanwhile
    if (id === to) return true;
    next.get(id).forEach((after) => seen.add(after));
  }
  return false;
}

function longestPaths(ids, next) {
  const previous = new Map(ids.map((id) => [id, []]));
  for (const [id, after] of next) after.forEach((other) => previous.get(other).push(id));

  const layer = new Map();
  const open = new Map(ids.map((id) => [id, previous.get(id).length]));
  const ready = ids.filter((id) => open.get(id) === 0);
  for (const id of ready) { // grows while it is walked
    layer.set(id, Math.max(0, ...previous.get(id).map((other) => layer.get(other) + 1)));
    for (const after of next.get(id)) {
      open.set(after, open.get(after) - 1);
      if (open.get(after) === 0) ready.push(after);
    }
  }
  // A source stands right before the first node that it sends to, not at the far left.
  for (const id of ids) {
    if (previous.get(id).length === 0 && next.get(id).size > 0) {
      layer.set(id, Math.min(...[...next.get(id)].map((after) => layer.get(after))) - 1);
    }
  }
  return layer;
}
