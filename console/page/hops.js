import { counted, latency, nodeName, number, spread, typical, unknown } from './format.js';
import { el, keep, setAttributes, setText } from './dom.js';

// drawHops draws a path into a cell: s1 → s2 → s3 with the typical latency under each hop.
export function drawHops(cell, hops) {
  const list = cell.firstElementChild ?? cell.appendChild(el('ol', { class: 'hops' }));
  const steps = hops.map((hop, i) => ({ hop, i }));
  keep(list, steps, ({ i }) => i, makeHop, (item, { hop, i }) => drawHop(item, hop, i === 0));
}

function makeHop() {
  return el('li', {}, el('span', { class: 'arrow' }), el('span', { class: 'hop' }, el('b'), ' ', el('small')), ' ');
}

function drawHop(item, hop, first) {
  const [arrow, box] = item.children;
  const [name, value] = box.children;
  setText(arrow, first ? '' : '→ ');
  setText(name, hopName(hop));
  setText(value, hopValue(hop));
  const kind = hop.dropped ? 'hop dropped' : hop.node === null ? 'hop silent' : 'hop';
  setAttributes(box, { class: kind, title: hopText(hop) });
}

// hopName is "?" for a node that is not known, "? ×2" for two of them.
export function hopName(hop) {
  if (hop.node !== null) return nodeName(hop.node, hop.name);
  return hop.missing > 1 ? `? ×${hop.missing}` : '?';
}

function hopValue(hop) {
  if (hop.dropped) return '✕ drop';
  return latency(typical(hop.latency_ns));
}

// pathText is a path in one line.
export const pathText = (hops) => hops.map(hopName).join(' → ');

function hopText(hop) {
  if (hop.node === null) return hop.missing ? `${counted(hop.missing, 'node')} sent nothing` : 'a node that is not known';
  const port = (n) => (n == null ? unknown : n);
  const lines = [`${nodeName(hop.node, hop.name)}: in port ${port(hop.ingress_port)}, out port ${port(hop.egress_port)}`];
  if (hop.dropped) lines.push('The packets were dropped here.');
  lines.push(`Hop latency: ${spread(hop.latency_ns)}`);
  if (hop.queue) lines.push(`Queue ${hop.queue.id}: mean ${number(hop.queue.mean)}, max ${number(hop.queue.max)}`);
  return lines.join('\n');
}
