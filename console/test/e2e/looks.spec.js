// How every page looks, against pictures that are committed: test/e2e/looks/*.png. Pages get answers that were recorded
// (answers.json.br there), a clock that stands still and one font, so that they look the same on every machine, however
// slow. "npm run looks" renews the pictures, and "LOOKS=record npm run looks" the answers before that.
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { expect } from '@playwright/test';
import UPNG from 'upng-js';
import { ask, base, connect, endpoints, eventually, finish, fresh, painted, ready, some, test } from './browser.js';

test.setTimeout(3_600_000); // of tests with some fifty pages each
test.beforeAll(connect);
test.afterAll(finish);

const file = new URL('./looks/answers.json.br', import.meta.url);
const recording = process.env.LOOKS === 'record';
const sizes = [
  [1440, 1100],
  [390, 1200],
];
/** What is asked where nothing else is for some seconds. */
const heartbeat = 'exporters?limit=1';
const most = 150; // of a list: a page has no more of it in its picture
let kept; // at: the time of the pages; pages: by name, where they are and what each asks; answers: by what was asked

/** addresses are the pages, and what they show of this server. */
async function addresses() {
  const usual =
    'overview topology flows latency queues drops incidents attacks alerts collector explore docs reports ' +
    'dashboard inventory';
  const [flow] = (await ask('flows?order=packets&limit=1')).flows;
  const [burst] = (await ask('bursts?order=peak&limit=1')).bursts;
  const [event] = (await ask('events?limit=1', 'severity >= warning')).events;
  const [incident] = (await ask('incidents?limit=1', 'kind = link_lost')).incidents;
  const [attack] = (await ask('attacks')).attacks;
  return {
    ...Object.fromEntries(usual.split(' ').map((name) => [name, name])),
    ...Object.fromEntries(['latency', 'queues', 'drops'].map((name) => [`${name}-range`, `${name}?since=15m`])),
    events: 'events?severity=all',
    heat: 'explore?of=hops&measure=latency_max_ns&since=15m&graph=heat',
    node: 'topology?node=leaf1&hosts=1',
    flow: `flow?${endpoints(flow)}`,
    burst: `burst?id=${burst.id}`,
    event: `event?id=${event.id}`,
    incident: `incident?id=${incident.id}`,
    attack: `attack?id=${attack.id}`,
  };
}

/** A Desk answers the questions of a page: from what was recorded, or while it records from the server. */
class Desk {
  #asked = new Map(); // what was asked since begin, and whether it is answered
  #last = 0;

  /** begin forgets what was asked. */
  begin() {
    this.#asked.clear();
    this.#last = Date.now();
  }

  answer = async (route) => {
    const url = new URL(route.request().url());
    if (url.pathname.endsWith('/stream'))
      return route.fulfill({ contentType: 'text/event-stream', body: 'retry: 3600000\n\n' });
    const key = url.pathname.split('/api/v1/')[1] + decodeURIComponent(url.search);
    // The clock of the page shows when something was answered, which is not to depend on how long it took.
    if (key === heartbeat) return route.fulfill({ json: { generated_at: '', total: 0, exporters: [] } });
    if (!this.#asked.has(key)) {
      this.#asked.set(key, false);
      this.#last = Date.now();
    }
    if (recording && !(key in kept.answers)) {
      const headers = { ...route.request().headers(), origin: '' }; // which is not where it is asked now
      const given = await route.fetch({ headers, maxRetries: 5 });
      const answer = JSON.parse(await given.text());
      for (const list of Object.values(answer)) if (Array.isArray(list)) list.splice(most);
      if ('generated_at' in answer) answer.generated_at = new Date(kept.at).toISOString();
      kept.answers[key] ??= { status: given.status(), body: JSON.stringify(answer) };
    }
    const { status, body } = kept.answers[key] ?? {
      status: 404,
      body: JSON.stringify({ detail: `not recorded: ${key}` }),
    };
    await route.fulfill({ status, contentType: 'application/json', body });
    this.#asked.set(key, true);
  };

  /** asked is what was asked until nothing more is for two seconds. */
  async asked() {
    while (Date.now() - this.#last < 2000 || ![...this.#asked.values()].every(Boolean))
      await new Promise((done) => setTimeout(done, 100));
    return [...this.#asked.keys()];
  }

  /** answered waits until all that a page asks is answered. */
  answered = (questions) =>
    eventually(() =>
      assert.deepEqual(
        questions.filter((key) => !this.#asked.get(key)),
        [],
        'questions that the page does not ask',
      ),
    );
}

/** opened is a page that shows the answers of a desk. */
async function opened([width, height], desk) {
  const page = await fresh({
    alone: true,
    viewport: { width, height },
    bypassCSP: true,
    reducedMotion: 'reduce',
    locale: 'en-GB',
  });
  await page.clock.setFixedTime(kept.at);
  await page.addInitScript(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(`:root { font-family: 'DejaVu Sans' !important; --mono: 'DejaVu Sans Mono' !important; }`);
    document.adoptedStyleSheets = [sheet];
  });
  await page.route('**/api/v1/**', desk.answer);
  return page;
}

/** show has a page begin anew with an address: what it asks then does not depend on what it showed before. */
async function show(page, desk, hash) {
  await page.goto('about:blank');
  desk.begin();
  await page.goto(`${base}#/${hash}`);
  await ready(page);
}

/** record asks what the pages ask. */
async function record() {
  kept = { at: Date.now(), pages: await addresses(), answers: {} };
  const asks = {};
  for (const size of sizes) {
    const desk = new Desk();
    const page = await opened(size, desk);
    for (const [name, hash] of Object.entries(kept.pages)) {
      await show(page, desk, hash);
      (asks[name] ??= { hash })[size[0]] = await desk.asked();
    }
  }
  kept.pages = asks;
  writeFileSync(file, brotliCompressSync(JSON.stringify(kept)));
}

/** small makes a picture half as large, of few colours. */
function small(png) {
  const image = UPNG.decode(png);
  const from = new Uint8Array(UPNG.toRGBA8(image)[0]);
  const [width, height] = [image.width >> 1, image.height >> 1];
  const to = new Uint8Array(width * height * 4);
  for (let y = 0; y < height; y++)
    for (let x = 0; x < width; x++)
      for (let channel = 0; channel < 4; channel++) {
        const at = (2 * y * image.width + 2 * x) * 4 + channel;
        const below = at + image.width * 4;
        to[(y * width + x) * 4 + channel] = (from[at] + from[at + 4] + from[below] + from[below + 4] + 2) >> 2;
      }
  return Buffer.from(UPNG.encode([to.buffer], width, height, 24));
}

/** still is a picture of a page once it does not change. */
async function still(page) {
  for (let last = Buffer.of(); ;) {
    await painted(page);
    const next = await page.screenshot({ animations: 'disabled', caret: 'hide' });
    if (next.equals(last)) return small(next);
    last = next;
  }
}

if (recording) test('what pages ask', record);

for (const size of sizes)
  test(`every page, ${size[0]} px wide`, async () => {
    kept ??= JSON.parse(brotliDecompressSync(readFileSync(file)));
    const desk = new Desk();
    const page = await opened(size, desk);
    for (const [name, { hash, [size[0]]: questions }] of Object.entries(kept.pages)) {
      await show(page, desk, hash);
      await desk.answered(questions);
      await page.evaluate(() => document.activeElement?.blur());
      for (const colorScheme of some(['light', 'dark'])) {
        await page.emulateMedia({ colorScheme });
        expect
          .soft(await still(page))
          .toMatchSnapshot(`${name}-${size[0]}-${colorScheme}.png`, { threshold: 0.1, maxDiffPixels: 100 });
      }
    }
  });
