import { addressKey, counted, endpoint, number } from './format.js';
import { lastSeen, packets, quantileColumn } from './columns.js';
import { drawHops, hopName, pathText } from './hops.js';
import { matchesText, shownPath } from './select.js';
import { el, setAttributes, setText } from './dom.js';

const side = (label, name) => ({
  label,
  kind: 'address endpoint',
  value: ({ flow }) => addressKey(flow[name], flow[`${name}_port`]),
  text: ({ flow }) => endpoint(flow, name),
});

function protocolText({ flow }) {
  return flow.tunnel ? `${flow.protocol} in ${flow.tunnel} ${flow.tunnel_id ?? ''}`.trim() : flow.protocol;
}

// ofFlow makes a column of flows one of rows, which are {flow, path} with the path that is shown.
const ofFlow = (column) => ({
  ...column,
  value: ({ flow }, now) => column.value(flow, now),
  text: ({ flow }, now) => column.text(flow, now),
  title: column.title && (({ flow }) => column.title(flow)),
});

const residence = 'Time in the hops: the sum of their latencies, each measured by one clock';

export const flowColumns = [
  side('Source', 'src'),
  side('Destination', 'dst'),
  { label: 'Protocol', value: protocolText, text: protocolText },
  ofFlow(packets),
  ofFlow(quantileColumn('Residence p50', 'residence_ns', 'p50', { hint: residence, order: 'latency' })),
  ofFlow(quantileColumn('Residence p99', 'residence_ns', 'p99', { hint: `${residence}, 99th percentile`, order: 'latency' })),
  {
    label: 'Path and hop latency',
    hint: 'Latest path with the median latency of each hop',
    kind: 'path',
    value: ({ path }) => (path ? pathText(path.hops) : null),
    draw: drawPath,
  },
  {
    label: 'Drops',
    numeric: true,
    order: 'drops',
    value: ({ flow }) => flow.drops,
    draw: drawDrops,
  },
  ofFlow(lastSeen),
];

function drawPath(cell, { flow, path }) {
  drawHops(cell, path?.hops ?? []);
  const note = cell.children[1] ?? cell.appendChild(el('small', { class: 'note' }));
  const others = flow.paths.filter((p) => p !== path);
  const changes = flow.path_changes > 0 ? `changed ${number(flow.path_changes)}×` : '';
  const more = others.length ? counted(others.length, 'other path') : '';
  setText(note, path ? [changes, more].filter(Boolean).join(', ') : 'no path in its reports');
  setAttributes(note, { title: others.length ? others.map((p) => pathText(p.hops)).join('\n') : undefined });
}

function drawDrops(cell, { flow }) {
  setText(cell, flow.drops > 0 ? `✕ ${number(flow.drops)}` : '0');
  cell.classList.toggle('bad', flow.drops > 0);
}

// flowRows returns the rows of the flows that match.
export function flowRows(flows, words, selection) {
  return flows
    .map((flow) => ({ flow: { ...flow, paths: flow.paths ?? [] }, path: shownPath(flow, selection) }))
    .filter(({ flow, path }) => (!selection || path) && matchesText(words, textsOf(flow)));
}

function textsOf(flow) {
  const hops = flow.paths.flatMap((path) => path.hops);
  return [endpoint(flow, 'src'), endpoint(flow, 'dst'), protocolText({ flow }), ...hops.map(hopName)];
}

const orders = {
  packets: 'with most packets',
  last: 'seen latest',
  latency: 'with the highest mean residence',
  drops: 'with most drops',
};

// flowCountText says how many flows are shown, of how many: the server sends the first ones of an order only.
export function flowCountText(shown, loaded, total, order) {
  const of = `${number(loaded)} ${orders[order]}, of ${number(total)}`;
  if (loaded < total) return shown < loaded ? `${number(shown)} of the ${of}` : `the ${of}`;
  return shown < total ? `${number(shown)} of ${number(total)}` : number(total);
}
