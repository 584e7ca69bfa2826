// The pictures of the console in README and docs, of the demo: "make demo", and some minutes later, in console, "npm run
// pictures", with WAYBILL_URL if the console is not at http://localhost:8080.
import { writeFileSync } from 'node:fs';
import { chromium } from '@playwright/test';
import UPNG from 'upng-js';

const url = process.env.WAYBILL_URL ?? 'http://localhost:8080';
const colours = 64;

/** first is the first item of a list of the API that a filter selects. */
async function first(list, filter, order = '') {
  const params = new URLSearchParams({ filter, limit: '1', ...(order && { order }) });
  const answer = await fetch(`${url}/api/v1/${list}?${params}`);
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status} ${await answer.text()}`);
  const [item] = (await answer.json())[list] ?? [];
  if (!item) throw new Error(`no ${list} with ${filter} yet; the demo needs two minutes`);
  return item;
}

const burst = await first('bursts', 'drops > 1000', 'peak');
const incident = await first('incidents', 'kind = link_lost and end is not null');
const report = await first('reports', 'outcome = decoded');

/** of each picture the page, how high its window is, and what it shows of the page, if not its beginning */
const pictures = {
  light: { hash: 'overview', height: 1100 },
  dark: { hash: `burst?id=${burst.id}`, height: 800, colorScheme: 'dark' },
  incident: { hash: `incident?id=${incident.id}`, height: 1010 },
  topology: { hash: `topology?incident=${incident.id}`, height: 870, colorScheme: 'dark' },
  latency: { hash: 'latency?since=5m', height: 700 },
  reports: { hash: `reports?id=${report.id}`, height: 1100 },
};

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
  args: ['--no-sandbox', '--disable-gpu'],
});
for (const [name, { hash, height, colorScheme = 'light' }] of Object.entries(pictures)) {
  const page = await browser.newPage({ viewport: { width: 1440, height }, colorScheme });
  await page.goto(`${url}/#/${hash}`);
  await page.waitForFunction(
    () =>
      document.querySelector('main .panel') && !/Querying|Loading …/.test(document.querySelector('main').textContent),
  );
  await page.waitForTimeout(8000); // lines and rates of what is live
  const image = UPNG.decode(await page.screenshot({ animations: 'disabled', caret: 'hide' }));
  const file = new URL(`../../docs/images/console-${name}.png`, import.meta.url);
  writeFileSync(file, Buffer.from(UPNG.encode([UPNG.toRGBA8(image)[0]], image.width, image.height, colours)));
  await page.close();
}
await browser.close();
