import { age, counted, latency, nodeName, number, unknown } from './format.js';
import { el, keep, setAttributes, setText } from './dom.js';

const severities = ['info', 'warning', 'critical'];

const start = (event) => Date.parse(event.start);
const goesOn = (event) => event.end === null;

// lasted is how long an event lasted, in nanoseconds.
const lasted = (event) => (goesOn(event) ? null : (Date.parse(event.end) - start(event)) * 1e6);

function durationText(event) {
  const ns = lasted(event);
  if (ns === null) return 'goes on';
  if (ns < 1e6) return 'a moment';
  return ns < 120e9 ? latency(ns) : counted(Math.round(ns / 60e9), 'minute');
}

// eventColumns returns the columns; choose is called with a selection (see select.js) when a node is clicked.
export function eventColumns(choose) {
  return [
    {
      label: 'Start',
      hint: 'Those that go on come first, then the latest',
      numeric: true,
      value: (event) => start(event) + (goesOn(event) ? 1e15 : 0),
      text: (event, now) => age(start(event), now),
      title: (event) => event.start,
    },
    { label: 'Duration', numeric: true, kind: 'lasted', value: lasted, draw: drawDuration, title: (event) => event.end ?? undefined },
    { label: 'Severity', value: (event) => -severities.indexOf(event.severity), draw: drawSeverity },
    { label: 'Kind', value: (event) => event.kind, text: (event) => event.kind.replaceAll('_', ' ') },
    { label: 'What happened', kind: 'what', value: (event) => event.text, text: (event) => event.text, title: evidenceText },
    { label: 'Count', numeric: true, hint: 'Packets, flows, drops or reports', value: (event) => event.count, text: (event) => number(event.count) },
    { label: 'Node', kind: 'ends', value: (event) => endsOf(event).map((end) => end.label).join() || null, draw: (cell, event) => drawEnds(cell, event, choose) },
  ];
}

function drawDuration(cell, event) {
  setText(cell, durationText(event));
  cell.classList.toggle('open', goesOn(event));
}

function drawSeverity(cell, event) {
  const mark = cell.firstElementChild ?? cell.appendChild(el('span'));
  setText(mark, event.severity);
  setAttributes(mark, { class: `severity ${event.severity}` });
}

// endsOf returns selections of the nodes that take part.
function endsOf(event) {
  const ends = [{ node: event.node, name: event.name }, { node: event.to_node, name: event.to_name }];
  return ends.filter(({ node }) => node != null).map(({ node, name }) => ({ node, label: nodeName(node, name) }));
}

function drawEnds(cell, event, choose) {
  const list = cell.firstElementChild ?? cell.appendChild(el('ul'));
  const ends = endsOf(event);
  keep(list, ends.length ? ends : [null], (end) => end?.node ?? unknown, (end) => makeEnd(end, choose), ({ firstChild }, end) => {
    setText(firstChild, end ? end.label : event.source || unknown);
    firstChild.selection = end;
  });
}

function makeEnd(end, choose) {
  if (!end) return el('li', {}, el('span'));
  const button = el('button', { type: 'button', class: 'chip', title: 'Select this node' });
  button.addEventListener('click', () => choose(button.selection));
  return el('li', {}, button);
}

// evidenceText lists the numbers that an event rests on.
function evidenceText(event) {
  return (event.evidence ?? []).map(({ name, value, unit }) => `${name.replaceAll('_', ' ')}: ${number(value)} ${unit ?? ''}`.trim()).join('\n') || undefined;
}

// eventMatches reports whether an event happened at what is selected: a node, or a connection in either direction.
export function eventMatches(event, selection) {
  if (!selection) return true;
  if (selection.node !== undefined) return event.node === selection.node || event.to_node === selection.node;
  const { a, b } = selection;
  if (event.to_node != null) return joins(event, a, b) || joins(event, b, a);
  return [a, b].some(({ node, port }) => event.node === node && port !== null && event.port === port);
}

const joins = (event, from, to) => event.node === from.node && event.to_node === to.node && (event.port ?? null) === from.port;
