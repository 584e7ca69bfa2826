// The documentation in the console: its pages, links, headings, pictures and its search.
import assert from 'node:assert/strict';
import { accessible, ask, connect, finish, go, open, shoot, some, test } from './browser.js';

const title = (page, text) =>
  page.waitForFunction((want) => document.querySelector('article h1')?.textContent === want, text);

test.beforeAll(connect);
test.afterAll(finish);

test('pages are there, with their pictures, and none is wider than the window', async () => {
  const page = await open('#/docs');
  const { pages } = await ask('docs');
  assert.equal(await page.locator('nav[aria-label=Documentation] a').count(), pages.length);
  for (const { page: name, title: text } of some(pages, 20)) {
    await go(page, `#/docs?page=${name}`);
    await title(page, text);
    await page.waitForFunction(() => [...document.querySelectorAll('article img')].every((image) => image.complete));
    const broken = await page
      .locator('article img')
      .evaluateAll((images) => images.filter((image) => image.naturalWidth === 0).map((image) => image.src));
    assert.deepEqual(broken, [], name);
    assert.ok(
      (await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0,
      name,
    );
  }
  await accessible(page, 'docs');
  await shoot(page, 'docs');
});

test('a link leads to a heading, and the search to a section', async () => {
  const page = await open('#/docs?page=README');
  await page.locator('article').getByRole('link', { name: 'Filter', exact: true }).click();
  await title(page, 'Filter');
  await page.getByLabel('Search the documentation').fill('acl_deny');
  const { hits } = await ask('docs/search?words=acl_deny&limit=30');
  await page.waitForFunction((n) => document.querySelectorAll('.hits li').length === n, hits.length);
  await accessible(page, 'docs search');
  await page.locator('.hits a').first().click();
  await title(page, hits[0].title);
  await page.waitForFunction((id) => {
    const { top } = document.getElementById(id).getBoundingClientRect();
    return top >= 0 && top < innerHeight;
  }, hits[0].anchor);
  await page.getByLabel('Search the documentation').fill('zzyzx');
  await page.waitForFunction(() => /Nothing has all of these words/.test(document.querySelector('aside').textContent));
});

test('each page leads to what explains it', async () => {
  const page = await open('#/overview');
  for (const name of [
    'overview',
    'topology',
    'flows',
    'latency',
    'queues',
    'drops',
    'events',
    'alerts',
    'collector',
    'reports',
    'explore',
  ]) {
    await go(page, `#/${name}`);
    await page.getByRole('link', { name: /^Help/ }).click();
    await page.waitForFunction(() => location.hash.startsWith('#/docs?page='));
    await page.waitForSelector('article h1');
    const at = await page.evaluate(() => new URLSearchParams(location.hash.split('?')[1]).get('at'));
    if (at) assert.equal(await page.locator(`article [id="${at}"]`).count(), 1, name);
  }
  await page.goto(`${page.url().split('#')[0]}docs/`);
  await page.waitForFunction(() => location.hash === '#/docs');
});
