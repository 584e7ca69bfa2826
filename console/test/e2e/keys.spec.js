// The pages that need a server with records and alert rules, by the keyboard alone.
import assert from 'node:assert/strict';
import { accessible, ask, connect, eventually, finish, go, open, test, span } from './browser.js';

const answered = (page) =>
  page.waitForFunction(
    () => document.querySelector('main h1') && !/Querying|Loading …/.test(document.querySelector('main').textContent),
  );
const focused = (page) =>
  page.evaluate(() => document.activeElement?.getAttribute('aria-label') || document.activeElement?.textContent.trim());

/** tabTo presses Tab until what has the focus is called so. */
async function tabTo(page, name) {
  for (let i = 0; i < 80; i++) {
    if ((await focused(page)) === name) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`the keyboard does not reach ${name}`);
}

test.beforeAll(connect);
test.afterAll(finish);

test('what may stand in a filter goes with the focus, and with Escape, however late it comes', async () => {
  const page = await open('#/events');
  const filter = page.getByRole('combobox', { name: 'Filter' });
  const offer = page.locator('[role=option]');
  let answered = 0;
  await page.route('**/api/v1/filter/complete*', async (route) => {
    await new Promise((done) => setTimeout(done, 800));
    await route.continue().catch(() => null);
    answered++;
  });
  await filter.focus();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Tab');
  await eventually(() => assert.ok(answered > 0));
  await page.waitForTimeout(200); // to show it
  assert.equal(await offer.filter({ visible: true }).count(), 0, 'after the focus went on');
  await filter.focus();
  await offer.first().waitFor();
  await page.keyboard.type('n');
  await page.keyboard.press('Escape');
  await page.waitForTimeout(1200);
  assert.equal(await offer.filter({ visible: true }).count(), 0, 'after Escape');
  await page.keyboard.type('o');
  await offer.first().waitFor();
  await page.locator('h1').first().click();
  await offer.first().waitFor({ state: 'hidden' });
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  page.expected.push('ERR_');
});

test('a silence by the keyboard, with what may stand in it', async () => {
  const page = await open('#/alerts');
  await page.locator('main').focus();
  await tabTo(page, 'Alerts about events with');
  await page.keyboard.type('kind = link_l');
  await page.waitForFunction(
    () =>
      [...document.querySelectorAll('form [role=option] code')].map((offer) => offer.textContent).join() ===
      'link_lost',
  );
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement.value.trim() === 'kind = link_lost');
  await page.getByRole('option', { name: /^and/ }).waitFor(); // the offer for what may follow
  await page.keyboard.press('Escape');
  await page.keyboard.press('Enter');
  await page.getByRole('cell', { name: 'kind = link_lost', exact: true }).first().waitFor();
  const [{ filter }] = (await ask('silences')).silences;
  assert.equal(filter, 'kind = link_lost');
  await tabTo(page, 'End now the silence of kind = link_lost');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => /Nothing is silenced/.test(document.querySelector('main').textContent));
});

test('a datagram, the documentation and a question by the keyboard', async () => {
  const page = await open('#/reports?limit=50');
  const first = await page.locator('[aria-label=Datagrams] tbody button').first().textContent();
  await page.locator('main').focus();
  await tabTo(page, first);
  await page.keyboard.press('Enter');
  await page.waitForSelector('[role=tree]');
  await go(page, '#/docs');
  await page.locator('main').focus();
  await tabTo(page, 'Search the documentation');
  await page.keyboard.type('blackhole');
  const { hits } = await ask('docs/search?words=blackhole&limit=30');
  await page.waitForFunction((n) => document.querySelectorAll('.hits li').length === n, hits.length);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.waitForFunction((want) => document.querySelector('article h1')?.textContent === want, hits[0].title);
  await go(page, `#/explore?of=hops&${span}&graph=table`);
  await answered(page);
  await page.locator('main').focus();
  await tabTo(page, 'ingress port');
  await page.keyboard.press('Space');
  await page.waitForFunction(() => /by=node%2Cegress_port%2Cingress_port/.test(location.hash));
  await answered(page);
  await tabTo(page, 'Stacked');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => location.hash.includes('graph=stacked'));
});

test('a link of the topology by the keyboard, and by its address', async () => {
  const page = await open('#/topology');
  const { links, nodes } = await ask('topology');
  const name = (id) => nodes.find((node) => node.id === id).name;
  const [link] = links;
  const [a, b] = [link.from, link.to].sort((x, y) => x - y);
  await page.locator('main').focus();
  await tabTo(page, 'Choose a link');
  await page.keyboard.type(`${name(a)} – ${name(b)}`);
  await page.keyboard.press('Enter');
  const panel = page.getByRole('complementary', { name: 'Link' });
  await panel.waitFor();
  assert.equal(await panel.locator('h2').textContent(), `${name(a)} – ${name(b)}`);
  const hash = await page.evaluate(() => location.hash);
  assert.match(hash, new RegExp(`link=${a}(\\+|%20)${b}`));
  const other = await open(hash);
  await other.getByRole('complementary', { name: 'Link' }).waitFor();
  assert.equal(await other.getByRole('combobox', { name: 'Choose a link' }).inputValue(), `${a} ${b}`);
  assert.ok((await other.locator('select[aria-label="Choose a link"] option').count()) > links.length / 2);
});

test('the time line of a burst is a table too', async () => {
  const {
    bursts: [{ id }],
  } = await ask('bursts?order=peak&limit=1');
  const { burst } = await ask(`bursts/${id}`);
  const page = await open(`#/burst?id=${id}`);
  await page.locator('main').focus();
  await tabTo(page, `Show as table: ${burst.timeline.length.toLocaleString('en')} packets`);
  await page.keyboard.press('Enter');
  const table = page.locator('[aria-label="Packets of the burst"] table');
  await table.waitFor();
  assert.equal(Number(await table.getAttribute('aria-rowcount')) - 1, burst.timeline.length);
  const first = await table.locator('tbody tr').first().locator('td').first().textContent();
  assert.equal(Number.parseFloat(first.replaceAll(',', '')), burst.timeline[0].at_ns / 1000);
  await accessible(page, 'burst as a table');
});

test('Ctrl-K finds a node, an address and an id, from any page', async () => {
  const page = await open('#/alerts');
  const { nodes } = await ask('topology');
  const {
    flows: [flow],
  } = await ask('flows?limit=1');
  const search = page.getByRole('dialog', { name: 'Search' });
  const find = async (text, first) => {
    await page.keyboard.press('Control+k');
    await search.waitFor();
    await page.keyboard.type(text);
    await search.getByRole('option').first().filter({ hasText: first }).waitFor();
  };
  await find(nodes[0].name, nodes[0].name);
  await accessible(page, 'search');
  await page.keyboard.press('Enter');
  await page.waitForFunction((id) => location.hash === `#/topology?node=${id}`, nodes[0].id);
  await find(flow.src, 'Flows from or to');
  await page.keyboard.press('Enter');
  await page.waitForFunction((src) => decodeURIComponent(location.hash).includes(`src+in+${src}+or`), flow.src);
  await find(flow.id, flow.src);
  await page.keyboard.press('Enter');
  await page.waitForFunction((id) => location.hash.includes(`#/flow?id=${id}`), flow.id);
  await page.keyboard.press('Control+k');
  await search.waitFor();
  await page.keyboard.type('no such thing');
  await search.getByText('Nothing that is in memory').waitFor();
  assert.equal(await search.getByRole('option').count(), 0);
  await page.keyboard.press('Escape');
  await search.waitFor({ state: 'hidden' });
  page.expected.push('404'); // what the browser says of lists without the id
});
