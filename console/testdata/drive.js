// Uses the page like a person and writes down what it then shows, as data-* of the body. The test loads it beside the page.
const wait = async (condition) => {
  for (let i = 0; i < 100 && !condition(); i++) await new Promise((done) => setTimeout(done, 50));
};
const rows = (table) => [...document.querySelectorAll(`#${table} tbody tr`)];
const column = (table, i) => rows(table).map((row) => row.children[i].textContent).join(' | ');
const header = (table, label) => [...document.querySelectorAll(`#${table} th button`)].find((b) => b.textContent === label);
const press = (element, key) => element.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
const seen = document.body.dataset;

await wait(() => rows('flows').length > 0);

header('flows', 'Destination').click();
seen.sorted = column('flows', 1);
seen.sortedAria = header('flows', 'Destination').closest('th').getAttribute('aria-sort');
header('flows', 'Destination').click();
seen.sortedBack = column('flows', 1);
header('flows', 'Residence p99').click(); // asks the server for its order
await wait(() => document.querySelector('#flows .count').textContent.includes('mean residence'));
seen.slowest = column('flows', 5);

const filter = document.querySelector('#filter');
filter.value = 'TCP 10.0.2.2:6002';
filter.dispatchEvent(new Event('input'));
seen.filtered = column('flows', 0);
seen.filteredCount = document.querySelector('#flows .count').textContent;
filter.value = '';
filter.dispatchEvent(new Event('input'));

const node = [...document.querySelectorAll('.node')].find((g) => g.querySelector('.name').textContent === 'node 7');
node.focus();
press(node, 'Enter');
seen.viaNode = column('flows', 0);
seen.viaNodeDrops = column('drops', 3);
seen.detail = document.querySelector('#detail').textContent;
seen.pressed = String(document.querySelectorAll('[aria-pressed=true]').length);
press(document.body, 'Escape');
seen.cleared = String(rows('flows').length);

// The node of an event is selected like that of the topology, and by the same click no longer.
const eventNode = () => [...document.querySelectorAll('#events button.chip')].find((b) => b.textContent === 'node 7');
eventNode().click();
seen.viaEvent = column('flows', 0);
seen.viaEventKind = column('events', 3);
eventNode().click();
node.focus();

// The elements must outlive a refresh: a person may have the pointer or the focus on them.
const row = rows('flows')[0];
const clock = document.querySelector('#rate').textContent;
await wait(() => document.querySelector('#rate').textContent !== clock);
seen.sameRow = String(row === rows('flows')[0] && document.contains(node) && document.activeElement === node);

const link = [...document.querySelectorAll('.cable')].find((g) => g.getAttribute('aria-label').startsWith('s1 port 2 → s2 port 3'));
link.dispatchEvent(new MouseEvent('click', { bubbles: true }));
seen.viaLink = column('flows', 0);
seen.viaLinkPath = rows('flows').find((r) => r.textContent.includes('10.0.1.1:5002')).querySelector('ol').textContent;

// A hidden page asks for nothing; a visible one asks at once.
let requests = 0;
const fetch = window.fetch;
window.fetch = (...args) => {
  requests++;
  return fetch(...args);
};
const setHidden = (hidden) => {
  Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
};
setHidden(true);
await new Promise((done) => setTimeout(done, 1300));
seen.whileHidden = String(requests);
setHidden(false);
seen.whenVisible = requests > 0 ? 'yes' : 'no';
seen.done = 'yes';
