import { Rate, completenessText, sum } from './account.js';
import { clock, counted, date, number } from './format.js';
import { Topology } from './topology.js';
import { dropColumns, dropKey, dropMatches } from './drops.js';
import { eventColumns, eventMatches } from './events.js';
import { exporterColumns, exporterKey } from './exporters.js';
import { flowColumns, flowCountText, flowRows } from './flows.js';
import { loadAll } from './api.js';
import { passes, wordsOf } from './select.js';
import { pathColumns } from './paths.js';
import { poll } from './poll.js';
import { setText } from './dom.js';
import { showSession } from './session.js';
import { showWelcome } from './welcome.js';
import { Table } from './table.js';

const limit = 200; // rows of a table

const page = Object.fromEntries([...document.querySelectorAll('[id]')].map((element) => [element.id, element]));
const rate = new Rate(5000);
const view = { data: null, order: 'packets', words: [], selection: null };

const most = { column: 'Packets', descending: true };
const tables = {
  events: new Table(page.events, { columns: eventColumns(choose), keyOf: (event) => event.id, sort: { column: 'Start', descending: true } }),
  flows: new Table(page.flows, { columns: flowColumns, keyOf: ({ flow }) => flow.id, sort: most, sorted: sortFlows }),
  paths: new Table(page.paths, { columns: pathColumns, keyOf: (path) => path.id, sort: most }),
  drops: new Table(page.drops, { columns: dropColumns, keyOf: dropKey, sort: most }),
  exporters: new Table(page.exporters, { columns: exporterColumns, keyOf: exporterKey, sort: { column: 'Source', descending: false } }),
};
const topology = new Topology(page.graph, page.legend, choose);

page.filter.addEventListener('input', () => {
  view.words = wordsOf(page.filter.value);
  draw();
});
page.clear.addEventListener('click', () => select(null));
document.addEventListener('keydown', (event) => {
  if (event.key === 'Escape' && view.selection) select(null);
});

showSession(page.logout);
const pollNow = poll({ load: (signal) => loadAll({ limit, order: view.order }, signal), show, fail });

// choose selects what was clicked, or nothing if it was selected already.
function choose(chosen) {
  const again = view.selection && view.selection.node === chosen.node && view.selection.key === chosen.key;
  select(again ? null : chosen);
}

function select(selection) {
  view.selection = selection;
  draw();
}

// sortFlows asks for the first flows of another order; what the server has no order for sorts those that are there.
function sortFlows({ order }) {
  if (!order || order === view.order) return;
  view.order = order;
  pollNow();
}

function show(data) {
  view.data = data;
  view.data.order = view.order;
  rate.add(sum(data.exporters, (e) => e.reports), performance.now());
  setState('live', 'live');
  page.problem.hidden = true;
  page.main.hidden = false;
  draw();
}

function fail(error) {
  rate.clear();
  setState('disconnected', 'disconnected, retrying');
  const since = view.data ? ` The figures below are of ${clock(view.data.now)}.` : '';
  setText(page.problem, `Disconnected, retrying every second: ${error.message}.${since}`);
  page.problem.hidden = false;
}

function setState(state, text) {
  document.body.dataset.state = state;
  setText(page.status, text);
}

function draw() {
  const { data, selection, words } = view;
  if (!data) return;
  drawFigures(data);
  showWelcome(page, data);
  topology.show(data, selection);
  drawSelection();

  const flows = flowRows(data.flows, words, selection);
  fillTable('flows', flows, flowCountText(flows.length, data.flows.length, data.total.flows, data.order),
    data.flows.length ? 'No flow matches.' : 'No flow yet: no report named one.');
  showSelected('events', (event) => eventMatches(event, selection), 'Nothing happened.');
  showSelected('paths', (path) => passes(path.hops, selection), 'No path yet.');
  showSelected('drops', (drop) => dropMatches(drop, selection), 'No drop reported.');
  showSelected('exporters', () => true, 'No report received.');
}

// showSelected shows the items of a list that belong to what is selected.
function showSelected(name, matches, whenEmpty) {
  const all = view.data[name];
  const found = all.filter(matches);
  const total = view.data.total[name];
  const shown = Math.min(found.length, limit);
  const text = shown < total ? `${number(shown)} of ${number(total)}` : number(total);
  fillTable(name, found.slice(0, limit), text, all.length ? 'None at what is selected.' : whenEmpty);
}

function fillTable(name, rows, countText, whenEmpty) {
  setText(page[name].querySelector('.count'), countText);
  tables[name].show(rows, whenEmpty, view.data.now);
}

function drawFigures({ exporters, total, now, nodes, links }) {
  const perSecond = rate.perSecond();
  const [share, note] = completenessText(exporters);
  setText(page['server-time'], clock(now));
  setText(page['server-date'], date(now));
  setText(page.rate, number(perSecond === null || perSecond < 10 ? perSecond : Math.round(perSecond)));
  setText(page['rate-note'], `from ${counted(exporters.length, 'exporter')}`);
  setText(page['flow-count'], number(total.flows));
  setText(page['path-count'], `on ${counted(total.paths, 'path')}`);
  setText(page.completeness, share);
  setText(page['completeness-note'], note);
  setText(page['topology-count'], `${counted(nodes.length, 'node')}, ${counted(links.length, 'link')}`);
}

function drawSelection() {
  const { selection } = view;
  page.clear.hidden = !selection;
  setText(page.clear, selection ? `via ${selection.label} ✕` : '');
  setText(page.detail, topology.describe(selection));
}
