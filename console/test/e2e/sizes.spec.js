// The pages that need a server with records and alert rules, on every size of window, in light and dark.
import assert from 'node:assert/strict';
import {
  accessible,
  ask,
  connect,
  finish,
  endpoints,
  go,
  lately,
  open,
  painted,
  shoot,
  some,
  test,
  span,
} from './browser.js';

const answered = (page) =>
  page.waitForFunction(
    () => document.querySelector('main h1') && !/Querying|Loading …/.test(document.querySelector('main').textContent),
  );

/** withoutFile lists the parts of a page with a table that is not there as a file. */
const withoutFile = (page) =>
  page
    .locator('main .panel')
    .evaluateAll((parts) =>
      parts
        .filter((part) => part.querySelector('table tbody td') && !part.querySelector('.files'))
        .map((part) => part.textContent.trim().slice(0, 40)),
    );

let views;
let pictures;

test.beforeAll(connect);
test.afterAll(finish);
test.beforeAll(async () => {
  const [{ id }] = (await ask('reports?limit=1&filter=outcome%20%3D%20decoded')).reports;
  views = {
    alerts: 'alerts?filter=kind%20%3D%20drop_storm',
    report: `reports?id=${id}`,
    docs: 'docs?page=reference/api',
    search: 'docs?search=queue',
    heat: `explore?of=hops&measure=latency_max_ns&${span}&interval=10s&graph=heat`,
    sankey: `explore?of=drops&graph=sankey&${span}`,
    collector: `collector?${span}`,
  };
  const [burst] = (await ask('bursts?order=peak&limit=1')).bursts;
  const [flow] = (await ask(`flows?${span}&limit=1`)).flows;
  pictures = {
    lines: `explore?of=hops&${span}&interval=10s`,
    heat: views.heat,
    sankey: views.sankey,
    drops: 'drops',
    'drops of a range': `drops?${span}`,
    latency: `latency?${span}`,
    queues: `queues?${span}`,
    burst: `burst?id=${burst.id}`,
    events: `events?${span}`,
    flow: `flow?${span}&${endpoints(flow)}`,
  };
});

/** A phone, and one of the others. */
const windows = {
  phone: { viewport: { width: 390, height: 844 }, colorScheme: 'dark' },
  light: { colorScheme: 'light' },
  dark: { colorScheme: 'dark' },
  large: { viewport: { width: 3840, height: 2160 } },
};

for (const [name, options] of [['phone', windows.phone], ...some(Object.entries(windows).slice(1))]) {
  test(`all of them: ${name}`, async () => {
    const page = await open('#/alerts', options);
    for (const [title, hash] of Object.entries(views)) {
      await go(page, `#/${hash}`);
      await answered(page);
      if (title === 'report') await page.waitForSelector('[role=tree]');
      assert.ok(
        (await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)) <= 0,
        `${title} is wider than the window`,
      );
      // The menu shows where one is, also where it is wider than the window.
      assert.ok(
        await page.locator('header nav a[aria-current]').evaluate((entry) => {
          const [a, b] = [entry.getBoundingClientRect(), entry.parentElement.getBoundingClientRect()];
          return a.left >= b.left - 1 && a.right <= b.right + 1;
        }),
        `${title}: the menu`,
      );
      if (!hash.startsWith('docs')) assert.deepEqual(await withoutFile(page), [], `${title}: tables without CSV`);
      await accessible(page, `${name} ${title}`);
      await shoot(page, `${name}-${title}`);
    }
  });
}

for (const [name, options] of [
  ['phone', windows.phone],
  ...some([
    ['laptop', { viewport: { width: 1280, height: 800 } }],
    ['large', windows.large],
  ]),
]) {
  test(`what pictures say can be read: ${name}`, async () => {
    const page = await open('#/alerts', options);
    for (const [title, hash] of Object.entries(pictures)) {
      await go(page, `#/${hash}`);
      await answered(page);
      await page.waitForFunction(
        () =>
          document.querySelector('main svg text') || Number(document.querySelector('main canvas')?.dataset.columns) > 0,
      );
      await painted(page);
      assert.deepEqual(await withoutFile(page), [], `${title}: tables without CSV`);
      const { rem, sizes, outside, over } = await page.evaluate(() => {
        const [sizes, outside, over] = [[], [], []];
        for (const svg of document.querySelectorAll('main svg')) {
          const frame = svg.getBoundingClientRect();
          const texts = [...svg.querySelectorAll('text')].map((text) => ({
            text: text.textContent,
            box: text.getBoundingClientRect(),
            px: Number.parseFloat(getComputedStyle(text).fontSize) * svg.getScreenCTM().d,
          }));
          sizes.push(...texts.map(({ px }) => px));
          outside.push(
            ...texts
              .filter(
                ({ box }) => box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 3,
              )
              .map(({ text }) => text),
          );
          texts.forEach((a, i) =>
            texts.slice(i + 1).forEach((b) => {
              if (
                a.box.left < b.box.right - 1 &&
                b.box.left < a.box.right - 1 &&
                a.box.top < b.box.bottom - 4 &&
                b.box.top < a.box.bottom - 4
              )
                over.push(`${a.text} | ${b.text}`);
            }),
          );
        }
        for (const canvas of document.querySelectorAll('main canvas[data-columns]')) {
          const c = canvas.getContext('2d');
          sizes.push((Number.parseFloat(c.font) * c.getTransform().d) / devicePixelRatio);
        }
        return {
          rem: Number.parseFloat(getComputedStyle(document.documentElement).fontSize),
          sizes,
          outside,
          over,
        };
      });
      assert.equal(rem, name === 'large' ? 20 : 14);
      assert.ok(
        sizes.length > 0 && Math.min(...sizes) > 0.85 * rem,
        `${title}: text of ${Math.min(...sizes)} px where 1rem is ${rem} px`,
      );
      assert.deepEqual([outside, over], [[], []], `${title}: outside of its picture, and over other text`);
      await shoot(page, `${name}-picture-${title}`);
    }
  });
}

test('on a phone the pages are in a menu', async () => {
  const page = await open('#/flows', windows.phone);
  const menu = page.getByRole('button', { name: 'Flows', exact: true });
  const pages = page.getByRole('navigation', { name: 'Pages' });
  assert.equal(await pages.isVisible(), false);
  await menu.press('Enter');
  for (const link of await pages.getByRole('link').all()) {
    const { x, width } = await link.boundingBox();
    assert.ok(x >= 0 && x + width <= 390, await link.textContent());
  }
  await accessible(page, 'the menu');
  await shoot(page, 'phone-menu');
  await pages.getByRole('link', { name: 'Drops' }).click();
  await page.getByRole('button', { name: 'Drops', exact: true }).waitFor();
  assert.equal(await pages.isVisible(), false, 'it closes');
});

test('every page that is about a time says which share of the reports arrived', async () => {
  const page = await open('#/overview');
  const { completeness } = await ask('exporters');
  const want = `${Math.floor(((completeness.sent - completeness.lost) / completeness.sent) * 1e4) / 100} %`;
  for (const hash of [`flows${lately()}`, `events${lately()}`, `queues?${span}`, `explore?${span}`]) {
    await go(page, `#/${hash}`);
    await page.waitForFunction(
      (share) =>
        document.querySelector('.ranged').textContent.replaceAll(/\s+/g, ' ').includes(`Telemetry: ${share} received`),
      want,
    );
  }
});
