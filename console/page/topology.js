import { compact, counted, latency, nodeName, number, quantile, spread } from './format.js';
import { el, keep, setAttributes, setText, svg } from './dom.js';
import { layout, nodeWidth } from './layout.js';

// Shades of a node by the p99 of its hop latency, in nanoseconds; the last one is open. They are fixed, so that a shade
// means the same in every network and at any time.
const shades = [1e4, 1e5, 1e6, 1e7, Infinity];

// Above so many cables their packets are not written beside them, where they would cover each other.
const crowd = 24;

// A Topology draws nodes and links into an element. choose is called with a selection (see select.js) when one is clicked.
export class Topology {
  #root;
  #choose;
  #plan = { nodes: [], cables: [] };
  #cables = svg('g');
  #nodes = svg('g');
  #labels = svg('g', { class: 'labels' });
  #picture = svg('svg', { class: 'topology' }, this.#cables, this.#nodes, this.#labels);

  constructor(root, legend, choose) {
    this.#root = root;
    this.#choose = choose;
    this.#root.append(this.#picture);
    legend.append(el('li', {}, 'hop latency, p99'), ...shades.map((below, i) => {
      const text = below === Infinity ? `≥ ${latency(shades[i - 1])}` : `< ${latency(below)}`;
      return el('li', { class: `shade-${i}` }, text);
    }));
  }

  show(data, selection) {
    const plan = (this.#plan = layout(data, this.#root.clientWidth || Infinity));
    const known = new Map(data.nodes.map((node) => [node.id, node]));
    for (const place of plan.nodes) place.node = known.get(place.id) ?? { id: place.id };
    setAttributes(this.#picture, { width: plan.width, height: plan.height, viewBox: `0 0 ${plan.width} ${plan.height}` });
    this.#root.hidden = plan.nodes.length === 0;

    const chosen = ({ key }) => key === selection?.key;
    const crowded = plan.cables.length > crowd;
    keep(this.#cables, plan.cables, (c) => c.key, () => this.#makeCable(), (g, c) => drawCable(g, c, chosen(c)));
    keep(this.#nodes, plan.nodes, (p) => p.id, () => this.#makeNode(), (g, p) => drawNode(g, p, p.id === selection?.node));
    // Texts lie above all lines.
    keep(this.#labels, plan.cables, (c) => c.key, makeLabels, (g, c) => drawLabels(g, c, !crowded || chosen(c)));
  }

  // describe says in words what is selected.
  describe(selection) {
    if (!selection) return this.#plan.nodes.length ? 'Select a node or a link for its numbers; it filters events, flows, paths and drops.' : '';
    const place = this.#plan.nodes.find(({ id }) => id === selection.node);
    if (place) return nodeText(place.node);
    const cable = this.#plan.cables.find(({ key }) => key === selection.key);
    return cable ? cableText(cable) : `${selection.label} is no longer reported.`;
  }

  #makeCable() {
    return this.#button('cable', ...['touch', 'line', 'heads'].map((name) => svg('path', { class: name })));
  }

  #makeNode() {
    return this.#button('node', svg('rect', { class: 'box', rx: 6 }), svg('rect', { class: 'shade', rx: 2 }),
      svg('svg', { class: 'name', width: nodeWidth - 24, height: 20 }, svg('text', { y: 14 })),
      svg('text', { class: 'value' }), svg('text', { class: 'drops' }));
  }

  #button(name, ...children) {
    const g = svg('g', { class: name, role: 'button', tabindex: 0 }, svg('title'), ...children);
    const press = () => this.#choose(g.selection);
    g.addEventListener('click', press);
    g.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' && event.key !== ' ') return;
      event.preventDefault(); // the space bar would scroll
      press();
    });
    return g;
  }
}

function drawNode(g, { id, x, y, height, node }, chosen) {
  const [title, box, shade, name, value, drops] = g.children;
  const p99 = quantile(node.latency_ns, 'p99');
  const [left, top] = [x - nodeWidth / 2, y - height / 2];
  g.selection = { node: id, label: nodeName(id, node.name) };
  setAttributes(g, { 'aria-pressed': chosen, 'aria-label': nodeText(node) });
  setText(title, nodeText(node));
  setAttributes(box, { x: left, y: top, width: nodeWidth, height });
  const level = p99 === null ? undefined : shades.findIndex((below) => p99 < below);
  setAttributes(shade, { class: level === undefined ? 'shade' : `shade shade-${level}` });
  setAttributes(shade, { x: left + 5, y: top + 5, width: 6, height: height - 10 });
  setText(name.firstChild, shortened(nodeName(id, node.name)));
  setAttributes(name, { x: left + 19, y: y - 18 });
  setText(value, p99 === null ? 'p99 –' : `p99 ${latency(p99)}`);
  setAttributes(value, { x: left + 19, y: y + 13 });
  setText(drops, node.drops > 0 ? `✕ ${compact(node.drops)}` : '');
  setAttributes(drops, { x: left + nodeWidth, y: top - 4 });
}

function drawCable(g, cable, chosen) {
  const [title, touch, line, heads] = g.children;
  const packets = (cable.forward ?? 0) + (cable.backward ?? 0);
  g.selection = { key: cable.key, a: cable.a, b: cable.b, silent: cable.silent, label: cableName(cable) };
  setAttributes(g, { class: cable.silent ? 'cable silent' : 'cable', 'aria-pressed': chosen, 'aria-label': cableText(cable) });
  setText(title, cableText(cable));
  setAttributes(touch, { d: cable.d });
  setAttributes(line, { d: cable.d, 'stroke-width': (1 + 0.4 * Math.log10(1 + packets)).toFixed(1) });
  setAttributes(heads, { d: (cable.forward === null ? '' : head(cable.end)) + (cable.backward === null ? '' : head(cable.start)) });
}

// head is the arrow head at an end of a cable, which arrives level.
function head({ x, y, side }) {
  const back = side === 'left' ? -8 : 8;
  return `M${x} ${y}l${back} -4.5v9z`;
}

function makeLabels() {
  return svg('g', {}, svg('text'), svg('text'), svg('text', { 'text-anchor': 'middle' }));
}

function drawLabels(g, cable, withPackets) {
  const [start, end, middle] = g.children;
  drawPort(start, cable.a.port, cable.start);
  drawPort(end, cable.b.port, cable.end);
  setText(middle, withPackets ? packetsText(cable) : '');
  setAttributes(middle, { class: 'packets', x: cable.label.x, y: cable.label.y + 3.5 });
}

function drawPort(text, port, { x, y, side }) {
  const out = side === 'right' ? 1 : -1;
  setText(text, port == null ? '' : String(port));
  setAttributes(text, { class: 'port', x: x + out * 11, y: y - 5, 'text-anchor': out > 0 ? 'start' : 'end' });
}

function packetsText({ forward, backward, silent }) {
  if (silent) return `${silent} silent`;
  return forward !== null && backward !== null ? `${compact(forward)} ⇄ ${compact(backward)}` : compact(forward ?? backward);
}

// shortened cuts a name; what is still too wide is clipped, as fonts differ.
const shortened = (name) => (name.length > 13 ? `${name.slice(0, 11)}…` : name);

const endName = (end) => nodeName(end.node, end.name) + (end.port == null ? '' : ` port ${end.port}`);

function cableName({ a, b, forward, backward }) {
  if (forward === null) return `${endName(b)} → ${endName(a)}`;
  return `${endName(a)} ${backward === null ? '→' : '⇄'} ${endName(b)}`;
}

// cableText and nodeText say in words what the picture shows.
function cableText(cable) {
  const lines = [];
  if (cable.forward !== null) lines.push(`${endName(cable.a)} → ${endName(cable.b)}: ${counted(cable.forward, 'packet')}`);
  if (cable.backward !== null) lines.push(`${endName(cable.b)} → ${endName(cable.a)}: ${counted(cable.backward, 'packet')}`);
  if (cable.silent) lines.push(`${counted(cable.silent, 'node')} in between sent nothing`);
  return lines.join('\n');
}

function nodeText(node) {
  const lines = [`${nodeName(node.id, node.name)} (id ${node.id}): ${counted(node.packets, 'packet')}, ${counted(node.drops, 'drop')}`];
  lines.push(`Hop latency: ${spread(node.latency_ns)}`);
  lines.push(`Longest queue: ${number(node.queue_max)}`);
  if (node.ports?.length) lines.push(`Ports: ${node.ports.join(', ')}`);
  return lines.join('\n');
}
