// Raw reports: the list, bytes beside what they are, and where else they are shown.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { accessible, ask, connect, finish, endpoints, go, open, shoot, test } from './browser.js';

const active = (page) => page.locator('[role=treeitem][aria-selected=true]');
const marked = (page) =>
  page.locator('.dump .hex .marked').evaluateAll((bytes) => bytes.map((byte) => byte.textContent).join(''));

/** flat lists all fields of layers, in their order, with those inside. */
const flat = (layers) =>
  (layers ?? []).flatMap((layer) => [{ ...layer, name: layer.title || layer.name, text: '' }, ...fields(layer.fields)]);
const fields = (list) => (list ?? []).flatMap((field) => [field, ...fields(field.fields), ...flat(field.layers)]);

test.beforeAll(connect);
test.afterAll(finish);

test('a field marks its bytes, a byte its field, with the pointer and with the keys', async () => {
  const {
    reports: [first],
  } = await ask('reports?limit=1&filter=outcome%20%3D%20decoded');
  const report = await ask(`reports/${first.id}`);
  const hex = Buffer.from(report.bytes, 'base64').toString('hex');
  const page = await open(`#/reports?id=${first.id}`);
  await page.waitForSelector('[role=tree]');
  const rows = flat(report.layers);
  assert.equal(await page.locator('[role=treeitem]').count(), rows.length);
  assert.equal(await page.locator('.dump button').count(), first.length);
  const at = rows.findIndex((row) => row.name === 'node_id');
  await page.locator('[role=treeitem]').nth(at).hover();
  assert.equal(await marked(page), hex.slice(2 * rows[at].offset, 2 * (rows[at].offset + rows[at].length)));
  assert.equal(Number.parseInt(await marked(page), 16), first.node);
  await page.locator('.dump button[data-at="5"]').hover(); // one of its four bytes
  assert.match(await active(page).textContent(), /node_id/);
  // The same without a pointer: the tree is one stop of the tab key, the arrows go through it.
  await active(page).focus();
  await page.keyboard.press('ArrowUp');
  const above = rows[at - 1];
  assert.equal(await active(page).locator('.name').textContent(), above.name);
  assert.equal(await marked(page), hex.slice(2 * above.offset, 2 * (above.offset + above.length)));
  await page.locator('.dump button[tabindex="0"]').focus();
  await page.keyboard.press('End');
  assert.equal(await page.evaluate(() => Number(document.activeElement.dataset.at)), first.length - 1);
  await accessible(page, 'reports');
  await shoot(page, 'reports');
});

test('the list, by what can be said of a datagram', async () => {
  const page = await open('#/reports');
  const count = async () =>
    Number(await page.locator('[aria-label=Datagrams] table').getAttribute('aria-rowcount')) - 1;
  const { reports } = await ask('reports?limit=200');
  assert.equal(await count(), reports.length);
  await page.locator('label:has-text("Outcome") select').selectOption('malformed');
  await page.waitForFunction(() => document.querySelectorAll('[aria-label=Datagrams] tbody tr').length === 2);
  await page.locator('[aria-label=Datagrams] tbody button').first().click();
  await page.waitForSelector('[role=tree]');
  assert.match(await page.textContent('.text'), /no report|neither is this/);
  assert.match(page.url(), /id=/);
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Capture file' }).click(),
  ]);
  const capture = await readFile(await download.path());
  assert.equal(capture.readUInt32LE(0), 0xa1b23c4d); // pcap with nanoseconds
  assert.ok(capture.includes('no report') && capture.includes('neither is this'));
  await go(page, '#/reports?filter=length%20%3E%2060000');
  await page.waitForFunction(() => /No matching datagrams/.test(document.querySelector('main').textContent));
});

test('the list stands still while one of it is open', async () => {
  const page = await open('#/reports?limit=50');
  const rows = page.locator('[aria-label=Datagrams] tbody button');
  const chosen = await rows.nth(3).textContent();
  await rows.nth(3).click();
  await page.waitForSelector('[role=tree]');
  await page.route('**/api/v1/reports?*', (route) =>
    route.fulfill({
      contentType: 'application/json',
      body: JSON.stringify({ generated_at: new Date().toISOString(), total: 0, reports: [] }),
    }),
  );
  await page.waitForResponse(/reports\?/);
  await page.waitForResponse(/reports\?/); // what came before is shown by now, if it is
  assert.equal(await page.locator('[aria-label=Datagrams] button[aria-pressed=true]').textContent(), chosen);
  await page.getByRole('button', { name: 'Close' }).click();
  await page.waitForFunction(() => /No matching datagrams/.test(document.querySelector('main').textContent));
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('bytes from elsewhere', async () => {
  const {
    reports: [first],
  } = await ask('reports?limit=1&filter=outcome%20%3D%20decoded');
  const { bytes } = await ask(`reports/${first.id}`);
  const page = await open('#/reports');
  await page.getByText('Decode bytes from elsewhere').click();
  await page.getByLabel('Hexadecimal').fill('20 0');
  assert.match(await page.textContent('main [role=alert]'), /pairs of hexadecimal/);
  await page.getByLabel('Hexadecimal').fill(Buffer.from(bytes, 'base64').toString('hex').replace(/(..)/g, '$1 '));
  await page.waitForSelector('[role=tree]');
  assert.match(await page.textContent('[role=tree]'), /telemetry report 2\.0/);
});

test('of a flow, and samples of what is malformed', async () => {
  const {
    reports: [first],
  } = await ask('reports?limit=1&filter=outcome%20%3D%20decoded');
  const { flows } = await ask('flows?limit=10000');
  const flow = flows.find((f) => f.id === first.flow.id);
  const page = await open(`#/flow?${endpoints(flow)}`);
  await page.locator('[aria-label=Datagrams] tbody button').first().click();
  await page.waitForSelector('[role=tree]');
  const { total } = await ask(`reports?flow=${flow.id}&limit=50`);
  assert.equal(Number(await page.locator('[aria-label=Datagrams] table').getAttribute('aria-rowcount')) - 1, total);
  const hops = flow.paths[0].hops.filter((hop) => hop.latency_ns).length;
  assert.equal(await page.locator('[aria-label="Latency at each hop"] tbody tr').count(), hops);
  const { paths } = await ask(`flows/${flow.id}/paths?since=1h`);
  assert.ok(paths.length > 0);
  await page.waitForFunction(
    (n) => document.querySelectorAll('[aria-label="Paths over time"] tbody tr').length === n,
    paths.length,
  );
  assert.equal(await page.locator('.lanes svg[role=img]').count(), new Set(paths.map((path) => path.id)).size);
  await accessible(page, 'flow');
  await shoot(page, 'flow');
  await go(page, '#/collector');
  await page.locator('[aria-label=Datagrams] tbody button').first().click();
  await page.waitForSelector('[role=tree]');
  assert.match(await page.textContent('.dump'), /no report|neither is this/);
  await accessible(page, 'collector');
});
