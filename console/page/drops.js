import { endpoint, nodeName, unknown } from './format.js';
import { lastSeen, packets } from './columns.js';
import { el, setAttributes, setText } from './dom.js';

const reasonText = (drop) => `${drop.reason_name} (${drop.reason})`;

// flowText is the flow of the packet that was dropped last.
const flowText = ({ last_flow: flow }) => (flow ? `${endpoint(flow, 'src')} → ${endpoint(flow, 'dst')} ${flow.protocol}` : unknown);

export const dropColumns = [
  { label: 'Node', value: (drop) => nodeName(drop.node, drop.name), text: (drop) => nodeName(drop.node, drop.name) },
  port('In port', 'ingress_port'),
  port('Out port', 'egress_port'),
  { label: 'Reason', value: reasonText, draw: drawReason },
  packets,
  { label: 'Last flow', kind: 'address', value: (drop) => (drop.last_flow ? flowText(drop) : null), text: flowText },
  lastSeen,
];

function port(label, field) {
  return { label, numeric: true, value: (drop) => drop[field], text: (drop) => String(drop[field] ?? unknown) };
}

function drawReason(cell, drop) {
  const mark = cell.firstElementChild ?? cell.appendChild(el('span', { class: 'reason' }));
  setText(mark, `✕ ${reasonText(drop)}`);
  setAttributes(mark, { title: drop.drop_key ? `mitigation rule ${drop.drop_key}` : undefined });
}

// dropKey tells drops apart.
export const dropKey = (d) => [d.node, d.ingress_port, d.egress_port, d.reason, d.reason_name, d.drop_key].join('/');

// dropMatches reports whether a drop happened at what is selected: at the node, or to packets that came by the cable or
// were to leave by it.
export function dropMatches(drop, selection) {
  if (!selection) return true;
  if (selection.node !== undefined) return drop.node === selection.node;
  return [selection.a, selection.b].some(({ node, port }) =>
    drop.node === node && port !== null && (drop.ingress_port === port || drop.egress_port === port));
}
