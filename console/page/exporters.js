import { addressKey, counted, nodeName, number, unknown } from './format.js';
import { lossText } from './account.js';
import { el, keep, setText } from './dom.js';

// counter is a column of numbers. Those that come from sequence numbers say nothing where these do not count.
const counter = (label, field, hint, sequenced = false) => {
  const value = (exporter) => (sequenced && exporter.lost == null ? null : exporter[field]);
  return { label, hint, numeric: true, value, text: (exporter) => number(value(exporter)) };
};

const text = (label, read, kind) => ({ label, kind, value: read, text: (exporter) => read(exporter) ?? unknown });

// reasons lists what was wrong with datagrams, the most frequent first.
export function reasons(exporter) {
  const list = (counts, partly) => Object.entries(counts ?? {}).map(([code, n]) => ({ code, n, partly }));
  const refused = exporter.refused ? { refused: exporter.refused } : {};
  return [...list(refused, false), ...list(exporter.malformed, false), ...list(exporter.damaged, true)].sort((a, b) => b.n - a.n || (a.code < b.code ? -1 : 1));
}

export const exporterColumns = [
  { label: 'Source', kind: 'address', value: (e) => addressKey(e.source), text: (e) => e.source },
  text('Node', nodeText),
  text('Version', (e) => e.version || null),
  text('Dialect', (e) => e.dialect || null),
  { ...counter('Received', 'received', 'Datagrams that arrived'), title: (e) => counted(e.reports, 'report') },
  { label: 'Lost', numeric: true, kind: 'loss', value: (e) => e.lost, draw: drawLoss },
  counter('Reordered', 'reordered', 'Datagrams that arrived late', true),
  counter('Duplicate', 'duplicate', 'Datagrams that arrived again', true),
  counter('Restarted', 'restarted', 'Times that the sequence numbers began anew', true),
  {
    label: 'Malformed',
    hint: 'Datagrams of which nothing, or only a part, could be used',
    kind: 'reasons',
    value: (e) => -reasons(e).reduce((total, { n }) => total + n, 0),
    draw: drawReasons,
  },
];

// nodeText names the hardware id only where it is not the usual 0.
function nodeText(e) {
  if (e.node == null) return null;
  return nodeName(e.node, e.name) + (e.hw_id ? `, hw ${e.hw_id}` : '');
}

function drawLoss(cell, exporter) {
  const mark = cell.firstElementChild ?? cell.appendChild(el('span'));
  setText(mark, lossText(exporter));
  mark.className = exporter.lost == null ? 'unknown' : exporter.lost > 0 ? 'bad' : '';
}

function drawReasons(cell, exporter) {
  const list = cell.firstElementChild ?? cell.appendChild(el('ul'));
  const found = reasons(exporter);
  keep(list, found.length ? found : [null], (r) => (r ? `${r.code} ${r.partly}` : ''), () => el('li'), (item, r) => {
    setText(item, r ? `${r.code}\u00a0${number(r.n)}${r.partly ? ' (partly used)' : ''}` : '0');
  });
}

export const exporterKey = (e) => [e.source, e.node, e.hw_id, e.version].join('/');
