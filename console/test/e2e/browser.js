// What the tests in a browser share.
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { test as playwright } from '@playwright/test';
import { nameOf } from './servers.js';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const servers = JSON.parse(process.env.CONSOLE_SERVERS ?? '{}');

/**
 * base is where the console of this file is served, token what one logs in with there, and span the ten minutes until the server had heard
 * all: they are the same however long the tests take.
 */
export let base;
export let token;
export let span;
/** truth is what the network knows, if it says it (docs/reference/truth.md): the lines of each type. */
export let truth;

let heardAt; // when the server had heard all

/** lately is nothing as long as pages about the latest 15 minutes show what the server heard, and else the question for when it did. */
export const lately = () => (Date.now() - heardAt < 600_000 ? '' : `?${span}`);

let browser;
let shared; // a context that tests use one after the other: the browser keeps the code of pages, and needs no further process
const opened = [];
let failed = false; // a test of this process

/** long says that all is tried that differs from run to run; otherwise it is what the seed says (make help). */
export const long = process.env.TEST_SEED === 'all';

/** some are all of a list, or those n of it whose turn it is. */
export function some(list, n = 1) {
  const first = (Number(process.env.TEST_SEED) || 0) % list.length;
  return long ? list : [...list, ...list].slice(first, first + n);
}

/** test is a test that fails also if a page had a problem, or asked another host. */
export const test = playwright.extend({
  watched: [
    async ({ browser: here }, use, info) => {
      browser = here;
      await use();
      const pages = opened.splice(0);
      const seen = pages.map(({ problems, expected, elsewhere }) => ({
        problems: problems.filter((said) => !expected.some((part) => said.match(part))),
        elsewhere,
      }));
      for (const page of pages) await (page.context() === shared ? page : page.context()).close();
      if (info.status !== info.expectedStatus) {
        failed = true;
        return;
      }
      failed ||= seen.some(({ problems, elsewhere }) => problems.length + elsewhere.length > 0);
      for (const { problems, elsewhere } of seen) {
        assert.deepEqual(problems, [], 'the console of the browser');
        assert.deepEqual(elsewhere, [], 'requests to other hosts');
      }
    },
    { auto: true },
  ],
});

/** connect is what a file does before its tests: it waits until its server has heard all that it shall. */
// eslint-disable-next-line no-empty-pattern -- Playwright wants the pattern
export async function connect({}, { file }) {
  const server = servers[nameOf(file)];
  const fed = await fetch(`${server.origin}/fed`);
  const said = await fed.text();
  assert.equal(fed.status, 200, said);
  const { token: given, truth: path, at } = JSON.parse(said);
  const [since, until] = [at - 600_000, at].map((ms) => new Date(ms).toISOString());
  [base, token, span, heardAt] = [server.base, given, `since=${since}&until=${until}`, at];
  if (path) truth = byType(readFileSync(path, 'utf8').trim().split('\n'));
}

/** byType puts the lines of a file of the truth into lists by their type. */
function byType(lines) {
  const types = {};
  for (const line of lines.map((text) => JSON.parse(text))) (types[line.type] ??= []).push(line);
  return types;
}

/** finish is what a file does after its tests: its server ends, once all files are done that look at it, and costs nothing any more. */
// eslint-disable-next-line no-empty-pattern -- Playwright wants the pattern
export async function finish({}, { file }) {
  if (!failed) await fetch(`${servers[nameOf(file)].origin}/done?${nameOf(file)}`); // otherwise the rest of the file comes in another process
}

/** fields are what a question may have beside a filter, which says what is selected, where the API has a filter. */
const fields = new Set(
  `acknowledged at cursor dialect exporter filter flow format group_by interval limit of order page schema since start state text until
  words`.split(/\s+/),
);

/** selecting lists the parameters of a question that a filter should say. */
function selecting(url) {
  if (!url.startsWith(`${base}api/v1/`)) return [];
  return [...new URL(url).searchParams.keys()].filter((name) => !fields.has(name)).map((name) => `${url} has ${name}`);
}

/** withoutClock keeps tests from setting the clock of a context that others have after them: it is that of all its pages, also of later ones. */
function withoutClock(context) {
  for (const name of ['install', 'setFixedTime', 'setSystemTime', 'pauseAt', 'fastForward'])
    context.clock[name] = () => {
      throw new Error('the clock is that of all pages: open this one with { alone: true }');
    };
  return context;
}

/** fresh returns an empty page that keeps in page.problems what went wrong in it, and in page.elsewhere its requests to other hosts. */
export async function fresh({
  viewport = { width: 1280, height: 900 },
  colorScheme = 'light',
  alone = false,
  ...more
} = {}) {
  const options = { viewport, colorScheme, timezoneId: 'Europe/Berlin', ...more };
  alone ||= token || Object.keys(more).length > 0; // needs a context of its own
  if (!alone) shared ??= withoutClock(await browser.newContext(options));
  const page = await (alone ? await browser.newContext(options) : shared).newPage();
  opened.push(page);
  if (!alone) {
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    const session = await shared.newCDPSession(page);
    await session.send('Storage.clearDataForOrigin', {
      origin: new URL(base).origin,
      storageTypes: 'cookies,local_storage',
    });
    await session.detach();
  }
  page.problems = [];
  page.elsewhere = [];
  page.expected = []; // parts of what the browser may say of answers, however late it says it
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) page.problems.push(message.text());
  });
  page.on('pageerror', (error) => page.problems.push(String(error)));
  page.on('request', (request) => page.problems.push(...selecting(request.url())));
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
    undefined,
    { polling: 50 }, // what has large tables is not read for each frame
  );
}

export const go = async (page, hash) => {
  await page.evaluate((to) => {
    location.hash = to;
  }, hash);
  await ready(page);
};

/** eventually waits until a check holds: what the page shows may come a frame later, or many. The limit of the test finds what hangs. */
export async function eventually(check) {
  for (const end = Date.now() + 840_000; ; await new Promise((done) => setTimeout(done, 50))) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}

/** shoot leaves a picture of a page in the directory CONSOLE_SHOTS, if there is one. */
export async function shoot(page, name) {
  if (!process.env.CONSOLE_SHOTS) return;
  mkdirSync(process.env.CONSOLE_SHOTS, { recursive: true });
  await page.screenshot({ path: `${process.env.CONSOLE_SHOTS}/${name}.png` });
}

/** silent waits until questions of a page are answered, and no other was asked for half a second. It is told of the page before it asks. */
export function silent(page, questions) {
  let open = 0;
  let last = Date.now();
  const count = (by) => (request) => {
    if (questions.test(request.url())) [open, last] = [open + by, Date.now()];
  };
  page.on('request', count(1));
  page.on('requestfinished', count(-1));
  page.on('requestfailed', count(-1));
  return () => eventually(() => assert.ok(open === 0 && Date.now() - last > 500, `${open} questions are open`));
}

/** painted waits until what is known is drawn: a picture is drawn once its size is known. */
export const painted = (page) =>
  page.evaluate(async () => {
    for (let i = 0; i < 3; i++) await new Promise((done) => requestAnimationFrame(done));
  });

/** ask asks the API itself, of a list for what a filter selects. */
export async function ask(path, filter = '') {
  const more = filter && `${path.includes('?') ? '&' : '?'}filter=${encodeURIComponent(filter)}`;
  const answer = await fetch(`${base}api/v1/${path}${more}`);
  assert.equal(answer.status, 200, path);
  return answer.json();
}

/** endpoints are the parameters of the page of a flow. */
export const endpoints = (flow) =>
  new URLSearchParams({
    id: flow.id,
    src: flow.src,
    dst: flow.dst,
    sport: flow.src_port,
    dport: flow.dst_port,
    protocol: flow.protocol,
  });

/**
 * complete checks that whatever a page has in tables or draws is there as CSV and as PNG, and that the period before can be seen of what it
 * draws over time. The documentation has tables that are text, and tiles have sparks of what is drawn below them.
 */
async function complete(page, name) {
  const lacks = await page.evaluate(() => {
    if (/^#\/docs/.test(location.hash)) return [];
    const overTime = /over time|around the incident|of the attack, and|^When packets took/i;
    const data = 'table, canvas, svg[role=img], svg[role=group]';
    const parts = [...document.querySelectorAll('main .panel')].filter((part) => !part.closest('.figures'));
    const missing = (part) => {
      const has = (text) =>
        [...part.querySelectorAll('.files > :not(.room)')].some((file) => file.textContent === text);
      const charts = [...part.querySelectorAll('svg[aria-label], canvas[aria-label]')].map((e) =>
        e.getAttribute('aria-label'),
      );
      // What is in memory of events has no range, and nothing before it.
      const range = /since=/.test(location.hash) || !charts.some((label) => label.startsWith('Events over time'));
      const past = part.querySelector('canvas[data-columns]') !== null || charts.some((label) => overTime.test(label));
      const compared = !past || !range || part.textContent.includes('Compare with');
      return [...['CSV', 'PNG'].filter((text) => !has(text)), ...(compared ? [] : ['Compare with'])];
    };
    return [
      ...parts
        .filter((part) => part.querySelector(data))
        .map((part) => [part.querySelector('h2')?.textContent ?? part.ariaLabel ?? part.textContent, missing(part)]),
      ...[...document.querySelectorAll('main table')]
        .filter((table) => !table.closest('.panel'))
        .map((table) => [table.ariaLabel ?? table.textContent, ['a part of the page']]),
    ]
      .filter(([, missing]) => missing.length > 0)
      .map(([title, missing]) => `${title.trim().slice(0, 40)}: no ${missing.join(', ')}`);
  });
  assert.deepEqual(lacks, [], `${name}: files and comparison`);
  const said = await page.evaluate(() => ({
    // The documentation names types, such as inband.Metadata.
    joined: [...document.querySelectorAll('main p:not(article *)')].flatMap(
      (p) => p.innerText.match(/[a-z)]\.[A-Z][a-z]+ .*/) ?? [],
    ),
    cut: [...document.querySelectorAll('main *')]
      .filter((e) => e.scrollWidth > e.clientWidth + 1 && e.querySelector('table'))
      .filter((e) => ['auto', 'scroll'].includes(getComputedStyle(e).overflowX))
      .filter((e) => !getComputedStyle(e).backgroundImage.includes('gradient'))
      .map((e) => e.ariaLabel ?? e.textContent.slice(0, 40)),
  }));
  assert.deepEqual(
    said,
    { joined: [], cut: [] },
    `${name}: sentences without a space, tables that are cut without a hint`,
  );
}

/** accessible checks WCAG 2.2 A and AA with axe-core and, since that looks at every page, that it is complete. */
export async function accessible(page, name) {
  await complete(page, name);
  await page.evaluate(axeSource);
  const violations = await page.evaluate(async () => {
    const result = await window.axe.run(document, {
      runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
      resultTypes: ['violations'],
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
