// Figures that are not of all packets say so where they stand. The nodes of the scenario report what differs from the packet before, as
// nodes do that nobody has set up.
import assert from 'node:assert/strict';
import { ask, connect, finish, endpoints, eventually, go, open, test } from './browser.js';

test.beforeAll(connect);
test.afterAll(finish);

/** unmarked lists the parts of a page with a statistic that do not say of which packets it is. */
const unmarked = (page) =>
  page.evaluate(() => {
    const statistic = /\b(p99|median|mean|queue max)\b|slowest/i;
    return [...document.querySelectorAll('main .panel')].flatMap((panel) => {
      const text = panel.cloneNode(true);
      for (const choice of text.querySelectorAll('option, label, .sample, .suggestions')) choice.remove();
      const says = text.textContent.replace(/\s+/g, ' ').replaceAll('Mean delay –', ''); // links have none after some minutes
      return statistic.test(says) && !panel.querySelector('.sample') ? [says.slice(0, 200)] : [];
    });
  });
const marks = (page) => page.locator('main .sample').count();

/** pages with statistics, of now and of a range */
async function pages() {
  const [flow] = (await ask('flows?order=packets&limit=1')).flows;
  const [link] = (await ask('links?order=packets&limit=1')).links;
  const cable = [link.from, link.to].toSorted((a, b) => a - b).join(' ');
  const now = [
    'overview',
    'latency',
    'queues',
    'flows',
    `flow?${endpoints(flow)}`,
    `topology?node=${link.from}`,
    `topology?${new URLSearchParams({ link: cable, colour: 'delay' })}`,
  ];
  const past = now.map((hash) => `${hash}${hash.includes('?') ? '&' : '?'}since=1h`);
  return [...now, ...past, 'explore?of=hops&measure=latency_p99_ns&since=1h', 'explore?of=queues&since=1h'];
}

test('each statistic of packets that were chosen says so', async () => {
  const { hops } = await ask('hops?limit=1000');
  const kinds = [...new Set(hops.map((hop) => hop.sample.kind))];
  assert.ok(kinds.includes('on_event') && !kinds.includes('every_packet'), `${kinds}`);
  const page = await open('#/overview');
  for (const hash of await pages()) {
    await go(page, `#/${hash}`);
    await eventually(async () => {
      assert.ok((await marks(page)) > 0, `${hash} has no mark`);
      assert.deepEqual(await unmarked(page), [], hash);
    });
    const said = await page.locator('main .sample').allTextContents();
    assert.ok(
      said.every((text) => /on event|some|unknown/.test(text)),
      `${hash}: ${said}`,
    );
  }
});

test('what is of all packets is not marked, and a box of others is hollow', async () => {
  const page = await open('#/latency');
  await eventually(async () => assert.ok((await page.locator('rect.hollow').count()) > 0));
  const every = async (route) => {
    const answer = await route.fetch();
    const text = await answer.text();
    await route.fulfill({
      response: answer,
      body: text.replace(/"sample":\{[^}]*\}/g, '"sample":{"kind":"every_packet"}'),
    });
  };
  await page.route(/api\/v1\/(hops|links|nodes|flows|queues)\?/, every);
  for (const hash of ['latency', 'overview', 'flows', 'latency?since=1h']) {
    await go(page, `#/${hash}`);
    await eventually(async () => {
      const said = (await page.locator('main .sample').allTextContents()).filter((text) => text !== 'all');
      assert.deepEqual(said, [], hash);
      assert.equal(await page.locator('rect.hollow').count(), 0, hash);
    });
  }
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('a part of a path is marked as one', async () => {
  const [flow] = (await ask('flows?order=packets&limit=1')).flows;
  const page = await open('#/overview');
  await page.route(/api\/v1\/(flows|paths)\?/, async (route) => {
    const answer = await route.fetch();
    const body = await answer.json();
    for (const path of body.paths ?? body.flows.flatMap((f) => f.paths ?? [])) path.unknown = ['beginning', 'end'];
    await route.fulfill({ response: answer, json: body });
  });
  await go(page, `#/flow?${endpoints(flow)}`);
  await page.getByText('part of a path: beginning and end unknown').first().waitFor();
  await page
    .locator('.lanes .label', { hasText: /^\s*\? → .* → \?/ })
    .first()
    .waitFor();
  await go(page, '#/flows');
  await page
    .locator('tbody td', { hasText: /^\? → .* → \?$/ })
    .first()
    .waitFor();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});
