// The pages that need a server with records and alert rules, on every size of window, in light and dark.
import assert from 'node:assert/strict';
import { accessible, ask, go, open, run, shoot } from './browser.mjs';

const answered = (page) => page.waitForFunction(() => document.querySelector('main h1') && !/Asking the|Loading …/.test(document.querySelector('main').textContent));

const [{ id }] = (await ask('reports?limit=1&filter=outcome%20%3D%20decoded')).reports;
const views = {
  alerts: 'alerts?filter=kind%20%3D%20drop_storm', report: `reports?id=${id}`, docs: 'docs?page=reference/api', search: 'docs?search=queue',
  heat: 'explore?of=hops&measure=latency_max_ns&since=10m&interval=10s&graph=heat', sankey: 'explore?of=drops&graph=sankey&since=10m', collector: 'collector?since=10m',
};
const windows = {
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }, light: { colorScheme: 'light' }, dark: { colorScheme: 'dark' }, large: { viewport: { width: 3840, height: 2160 } },
};

await run({
  ...Object.fromEntries(Object.entries(windows).map(([name, options]) => [`all of them: ${name}`, async () => {
    const page = await open('#/alerts', options);
    for (const [title, hash] of Object.entries(views)) {
      await go(page, `#/${hash}`);
      await answered(page);
      if (title === 'report') await page.waitForSelector('[role=tree]');
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0, `${title} is wider than the window`);
      // The menu shows where one is, also where it is wider than the window.
      assert.ok(await page.locator('header nav a[aria-current]').evaluate((entry) => {
        const [a, b] = [entry.getBoundingClientRect(), entry.parentElement.getBoundingClientRect()];
        return a.left >= b.left - 1 && a.right <= b.right + 1;
      }), `${title}: the menu`);
      await accessible(page, `${name} ${title}`);
      await shoot(page, `${name}-${title}`);
    }
  }])),

  async 'every page that is about a time says which share of the reports arrived'() {
    const page = await open('#/overview');
    const { completeness } = await ask('exporters');
    const want = `${Math.floor(((completeness.sent - completeness.lost) / completeness.sent) * 1e4) / 100} %`;
    for (const hash of ['flows', 'events', 'queues?since=10m', 'explore?since=10m']) {
      await go(page, `#/${hash}`);
      await page.waitForFunction((share) => document.querySelector('.ranged').textContent.includes(`${share} of the reports arrived`), want);
    }
  },
});
