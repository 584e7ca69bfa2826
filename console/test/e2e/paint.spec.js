// How soon each page shows something, and that nothing moves while its answers come. The times are told, not judged: a test machine has other
// work.
import assert from 'node:assert/strict';
import { ask, base, connect, finish, endpoints, open, test } from './browser.js';

/** How the address of each page is found; the names are those of the tests. */
const same = (hash) => [hash, () => hash];
const now = Object.fromEntries(
  [
    'overview',
    'topology',
    'topology?node=1',
    'flows',
    'latency',
    'queues',
    'drops',
    'events',
    'alerts',
    'collector',
    'explore',
    'docs',
    'reports',
  ].map(same),
);
const deeper = {
  flow: async () => `flow?${endpoints((await ask('flows?order=packets&limit=1')).flows[0])}`,
  burst: async () => `burst?id=${(await ask('bursts?order=peak&limit=1')).bursts[0].id}`,
  event: async () => `event?id=${(await ask('events?limit=1')).events[0].id}`,
};
const past = Object.fromEntries(
  ['overview', 'topology', 'flows', 'latency', 'queues', 'drops'].map((page) => same(`${page}?since=15m`)),
);

/** watch begins before anything of the page is there. */
function watch() {
  window.moved = [];
  const place = ({ node, previousRect: from, currentRect: to }) =>
    `${node?.nodeName} ${(node?.textContent ?? '').trim().slice(0, 30)}: ${from.x},${from.y} to ${to.x},${to.y}`;
  new PerformanceObserver((list) => {
    for (const shift of list.getEntries())
      if (!shift.hadRecentInput) window.moved.push({ by: shift.value, what: shift.sources.map(place).join(' | ') });
  }).observe({ type: 'layout-shift', buffered: true });
  new PerformanceObserver((list) => {
    window.largest = list.getEntries().at(-1).startTime;
  }).observe({ type: 'largest-contentful-paint', buffered: true });
}

test.beforeAll(connect);
test.afterAll(finish);

for (const [name, hash] of Object.entries({ ...now, ...deeper, ...past })) {
  test(name, async () => {
    const page = await open(`#/${await hash()}`, {}, watch);
    await page.waitForTimeout(1000); // some things come a little later, and now is asked for again
    page.expected.push('404'); // this server has no alert rules, and keeps no datagrams
    const { moved, first, largest } = await page.evaluate(() => ({
      moved: window.moved,
      first: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
      largest: window.largest,
    }));
    console.log(`     first paint after ${Math.round(first)} ms, the largest after ${Math.round(largest)} ms`);
    const sum = moved.reduce((all, { by }) => all + by, 0);
    assert.ok(sum < 0.002, `moved by ${sum}: ${moved.map(({ what }) => what).join('; ')}`);
  });
}

test('nothing of a flow moves when its pictures come late, on a screen that shows all of it', async () => {
  const one = (await ask('flows?limit=1000')).flows.find((f) => f.paths.length === 1 && f.path_changes === 0);
  const params = endpoints(one);
  const page = await open('#/docs', { viewport: { width: 1280, height: 2000 } }, watch);
  await page.route(/\/paths\?|heatmap\?/, async (route) => {
    await new Promise((done) => setTimeout(done, 700)); // after the first picture of the page
    await route.continue().catch(() => null);
  });
  await page.goto('about:blank');
  await page.goto(`${base}#/flow?${params}`);
  await page.locator('[aria-label="Latency over time"] canvas').waitFor();
  await page.waitForTimeout(500);
  const moved = await page.evaluate(() => window.moved);
  assert.ok(moved.reduce((all, { by }) => all + by, 0) < 0.002, JSON.stringify(moved));
  page.expected.push('404'); // this server keeps no datagrams
});
