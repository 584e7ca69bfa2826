import { cablesOf } from './cables.js';
import { layersOf } from './layers.js';

export const nodeWidth = 128;
const nodeHeight = 46;
const widestGap = 176; // between layers
const narrowestGap = 130; // with room for ports and packets
const rowGap = 28; // with the count of drops, which stands above a node
const slotHeight = 22; // between the ends of cables on one side of a node
const laneHeight = 16; // where a cable passes through a layer
const margin = 18;
const bulge = 64; // how far a cable between two nodes of a layer sticks out

// layout places nodes in layers from left to right, within a width if they fit. It returns {width, height, nodes, cables}:
// nodes with their centre x, y and their height, cables with {d, start, end, label}, an SVG path and points. It depends on
// who is connected with whom only, not on counters or the order of its arguments, so that the picture stands still.
export function layout({ nodes, links, paths }, within) {
  const ids = idsOf(nodes, links, paths);
  if (ids.length === 0) return { width: 0, height: 0, nodes: [], cables: [] };
  const layer = layersOf(ids, paths, links);
  const cables = cablesOf(links, paths, layer);
  const columns = columnsOf(ids, layer, cables);
  sortColumns(columns);
  const [width, height] = placeColumns(columns, within);

  const places = new Map(columns.flat().filter((item) => item.id !== undefined).map((item) => [item.id, item]));
  assignSlots(cables, places);
  const bulges = cables.some((cable) => cable.b.slot.side === 'right' && layer.get(cable.b.node) === columns.length - 1);
  return { width: width + (bulges ? bulge : 0), height, nodes: ids.map((id) => places.get(id)), cables: cables.map(route) };
}

function idsOf(nodes, links, paths) {
  const ids = new Set(nodes.map((node) => node.id));
  links.forEach((link) => ids.add(link.from).add(link.to));
  paths.forEach((path) => path.hops.forEach((hop) => hop.node !== null && ids.add(hop.node)));
  return [...ids].sort((a, b) => a - b);
}

// columnsOf returns what stands in each layer: the nodes, and a lane for each cable that passes.
function columnsOf(ids, layer, cables) {
  const columns = Array.from({ length: Math.max(0, ...layer.values()) + 1 }, () => []);
  const place = new Map();
  for (const id of ids) {
    const item = { id, layer: layer.get(id), height: nodeHeight, near: [] };
    columns[item.layer].push(item);
    place.set(id, item);
  }
  const ends = new Map(); // how many cables end on each side
  for (const cable of cables) {
    const [a, b] = [place.get(cable.a.node), place.get(cable.b.node)];
    cable.lanes = [];
    for (let i = a.layer + 1; i < b.layer; i++) {
      const lane = { layer: i, height: laneHeight, near: [] };
      columns[i].push(lane);
      cable.lanes.push(lane);
    }
    const chain = [a, ...cable.lanes, b];
    for (let i = 1; i < chain.length; i++) {
      chain[i].near.push(chain[i - 1]);
      chain[i - 1].near.push(chain[i]);
    }
    cable.a.slot = { side: 'right' };
    cable.b.slot = { side: a.layer === b.layer ? 'right' : 'left' };
    for (const end of [cable.a, cable.b]) {
      const key = `${end.node} ${end.slot.side}`;
      ends.set(key, (ends.get(key) ?? 0) + 1);
      const item = place.get(end.node);
      item.height = Math.max(item.height, ends.get(key) * slotHeight + 8);
    }
  }
  return columns;
}

// sortColumns puts what is connected at similar heights: a few sweeps of the barycentre method.
function sortColumns(columns) {
  const number = () => columns.forEach((column) => column.forEach((item, i) => { item.rank = i - column.length / 2; }));
  const sweep = (column, from) => {
    for (const item of column) {
      const near = item.near.filter((other) => other.layer === from);
      item.pull = near.length ? near.reduce((total, other) => total + other.rank, 0) / near.length : item.rank;
    }
    column.sort((a, b) => a.pull - b.pull || a.rank - b.rank);
    number();
  };
  number();
  for (let i = 0; i < 4; i++) {
    columns.slice(1).forEach((column, j) => sweep(column, j));
    columns.slice(0, -1).reverse().forEach((column, j) => sweep(column, columns.length - 1 - j));
  }
}

// placeColumns gives every item its place and returns width and height of all. Items are drawn to the middle of those that
// they are connected with, in turn from left to right and back, and keep their order and distance.
function placeColumns(columns, within) {
  const gaps = Math.max(1, columns.length - 1);
  const spare = (within - 2 * margin - columns.length * nodeWidth) / gaps;
  const layerGap = Math.floor(Math.min(widestGap, Math.max(narrowestGap, spare)));
  columns.forEach((column, i) => column.forEach((item, j) => {
    item.x = margin + i * (nodeWidth + layerGap) + nodeWidth / 2;
    item.y = j * (nodeHeight + rowGap);
  }));
  const settle = (column, from) => {
    const wishes = column.map((item) => {
      const near = item.near.filter((other) => from.includes(other.layer));
      return near.length ? near.reduce((total, other) => total + other.y, 0) / near.length : item.y;
    });
    let bottom = -Infinity;
    let pushed = 0;
    column.forEach((item, i) => {
      item.y = Math.max(wishes[i], bottom + item.height / 2);
      bottom = item.y + item.height / 2 + rowGap;
      pushed += item.y - wishes[i];
    });
    column.forEach((item) => { item.y -= pushed / column.length; }); // as much up as down
  };
  for (let round = 0; round < 4; round++) {
    columns.forEach((column, i) => settle(column, [i - 1]));
    columns.forEach((_, i) => settle(columns[columns.length - 1 - i], [columns.length - i]));
  }
  const items = columns.flat();
  const top = Math.min(...items.map((item) => item.y - item.height / 2));
  items.forEach((item) => { item.y = Math.round(item.y - top + margin); });
  const width = Math.max(...items.map((item) => item.x)) + nodeWidth / 2 + margin;
  return [width, Math.max(...items.map((item) => item.y + item.height / 2)) + margin];
}

// assignSlots spreads the ends of cables over the side of their node, in the order of where they come from.
function assignSlots(cables, places) {
  const sides = new Map();
  for (const cable of cables) {
    const [a, b] = [places.get(cable.a.node), places.get(cable.b.node)];
    const key = (end) => `${end.node} ${end.slot.side}`;
    const put = (end, toward) => sides.set(key(end), [...(sides.get(key(end)) ?? []), { end, toward: toward.y, cable }]);
    put(cable.a, cable.lanes[0] ?? b);
    put(cable.b, cable.lanes.at(-1) ?? a);
  }
  for (const ends of sides.values()) {
    ends.sort((p, q) => p.toward - q.toward || (p.cable.key < q.cable.key ? -1 : 1));
    ends.forEach(({ end }, i) => {
      const node = places.get(end.node);
      end.slot.x = node.x + (end.slot.side === 'right' ? 1 : -1) * (nodeWidth / 2);
      end.slot.y = node.y + (i - (ends.length - 1) / 2) * slotHeight;
    });
  }
}

// route draws a cable: curves that leave and arrive level.
function route(cable) {
  const [start, end] = [cable.a.slot, cable.b.slot];
  if (end.side === 'right') {
    const out = Math.max(start.x, end.x) + bulge;
    const d = `M${start.x} ${start.y}C${out} ${start.y} ${out} ${end.y} ${end.x} ${end.y}`;
    return { ...cable, d, start, end, label: { x: start.x + bulge * 0.75, y: (start.y + end.y) / 2 } };
  }
  const points = [start];
  for (const lane of cable.lanes) {
    points.push({ x: lane.x - nodeWidth / 2, y: lane.y }, { x: lane.x + nodeWidth / 2, y: lane.y });
  }
  points.push(end);
  let d = `M${start.x} ${start.y}`;
  for (let i = 1; i < points.length; i++) {
    const [p, q] = [points[i - 1], points[i]];
    const bend = (p.x + q.x) / 2;
    d += p.y === q.y ? `L${q.x} ${q.y}` : `C${bend} ${p.y} ${bend} ${q.y} ${q.x} ${q.y}`;
  }
  return { ...cable, d, start, end, label: labelPoint(points[0], points[1]) };
}

// labelPoint is the middle of a level line, and a point near the start of a curve: curves cross in the middle.
function labelPoint(p, q) {
  if (p.y === q.y) return { x: (p.x + q.x) / 2, y: p.y };
  const t = 0.45;
  return {
    x: p.x + (q.x - p.x) * (1.5 * (1 - t) ** 2 * t + 1.5 * (1 - t) * t ** 2 + t ** 3),
    y: p.y + (q.y - p.y) * (3 * (1 - t) * t ** 2 + t ** 3),
  };
}
