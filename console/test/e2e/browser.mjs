// What the tests in a browser share. A test is a function that throws; all run, and the process fails if one did.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const base = process.env.CONSOLE_URL;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM,
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-quic'],
});

const opened = [];

/** fresh returns an empty page that keeps in page.problems what went wrong in it, and in page.elsewhere its requests to other hosts. */
export async function fresh(options = {}) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 900 },
    timezoneId: 'Europe/Berlin',
    ...options,
  });
  const page = await context.newPage();
  opened.push(page);
  page.problems = [];
  page.elsewhere = [];
  page.on('console', (message) => ['error', 'warning'].includes(message.type()) && page.problems.push(message.text()));
  page.on('pageerror', (error) => page.problems.push(String(error)));
  page.on(
    'request',
    (request) =>
      request.url().startsWith(base) || request.url().startsWith('data:') || page.elsewhere.push(request.url()),
  );
  return page;
}

/** open returns a fresh page that shows answers. before runs in it first. */
export async function open(path = '', options = {}, before = undefined) {
  const page = await fresh(options);
  if (before) await page.addInitScript(before);
  await page.goto(base + path);
  await ready(page);
  return page;
}

/** ready waits until the page shows answers. */
export async function ready(page) {
  await page.waitForSelector('main h1', { state: 'attached' });
  await page.waitForFunction(
    () =>
      document.querySelector('[data-state]').dataset.state === 'live' &&
      !/Loading …/.test(document.querySelector('main').textContent),
  );
}

export const go = async (page, hash) => {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  await ready(page);
};

/** shoot leaves a picture of a page in the directory CONSOLE_SHOTS, if there is one. */
export async function shoot(page, name) {
  if (!process.env.CONSOLE_SHOTS) return;
  mkdirSync(process.env.CONSOLE_SHOTS, { recursive: true });
  await page.screenshot({ path: `${process.env.CONSOLE_SHOTS}/${name}.png` });
}

/** ask asks the API itself. */
export async function ask(path) {
  const answer = await fetch(`${base}api/v1/${path}`);
  assert.equal(answer.status, 200, path);
  return answer.json();
}

/** accessible checks WCAG 2.2 A and AA with axe-core. */
export async function accessible(page, name) {
  await page.evaluate(axeSource);
  const violations = await page.evaluate(async () => {
    const result = await window.axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
      rules: { 'label-content-name-mismatch': { enabled: true } }, // which axe calls experimental
    });
    return result.violations
      .filter((v) => ['serious', 'critical'].includes(v.impact))
      .map(
        (v) =>
          `${v.id}: ${v.nodes
            .slice(0, 3)
            .map((n) => `${n.html} ${n.any[0]?.message ?? ''}`)
            .join(' | ')}`,
      );
  });
  assert.deepEqual(violations, [], `${name}: axe`);
}

export async function run(tests) {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    const start = Date.now();
    try {
      await test();
      for (const page of opened) {
        assert.deepEqual(page.problems, [], 'the console of the browser');
        assert.deepEqual(page.elsewhere, [], 'requests to other hosts');
      }
      console.log(`ok   ${name} (${Date.now() - start} ms)`);
    } catch (error) {
      failed++;
      console.log(`FAIL ${name}: ${error.stack}`);
    }
    for (const page of opened.splice(0)) await page.context().close();
  }
  await browser.close();
  process.exit(failed ? 1 : 0);
}
