import { counted, number } from './format.js';
import { lastSeen, packets, quantileColumn } from './columns.js';
import { drawHops, pathText } from './hops.js';
import { el, setAttributes, setText } from './dom.js';

const residence = 'Time in the hops: the sum of their latencies, each measured by one clock';
const endToEnd = 'Egress of the last hop minus ingress of the first: two clocks, which must be synchronised';

export const pathColumns = [
  {
    label: 'Path and hop latency',
    hint: 'Hops, source first, with the median latency of each',
    kind: 'path',
    value: (path) => pathText(path.hops),
    draw: drawPath,
  },
  { label: 'Flows', numeric: true, value: (path) => path.flows, text: (path) => number(path.flows) },
  packets,
  quantileColumn('Residence p50', 'residence_ns', 'p50', { hint: residence }),
  quantileColumn('Residence p99', 'residence_ns', 'p99', { hint: residence }),
  quantileColumn('End to end p50', 'end_to_end_ns', 'p50', { hint: endToEnd }),
  quantileColumn('End to end p99', 'end_to_end_ns', 'p99', { hint: endToEnd }),
  lastSeen,
];

function drawPath(cell, path) {
  drawHops(cell, path.hops);
  const note = cell.children[1] ?? cell.appendChild(el('small', { class: 'note' }));
  const parts = [];
  if (path.uncertain) parts.push('order of hops uncertain');
  if (path.clock_errors > 0) parts.push(`clocks disagree in ${counted(path.clock_errors, 'packet')}`);
  setText(note, parts.join(', '));
  setAttributes(note, { title: path.clock_errors > 0 ? 'These packets are left out of the end to end time.' : undefined });
}
