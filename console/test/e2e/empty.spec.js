// A server that got no reports yet, and one that does not answer, or late.
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import { accessible, ask, connect, eventually, finish, go, open, shoot, test } from './browser.js';

const state = (page, want) =>
  page.waitForFunction((s) => document.querySelector('[data-state]').dataset.state === s, want);

test.beforeAll(connect);
test.afterAll(finish);

test('says where to send reports', async () => {
  const page = await open();
  const [{ address }] = (await ask('listeners')).listeners;
  const text = await eventually(async () => {
    const shown = await page.textContent('main');
    assert.ok(shown.includes('No reports yet') && shown.includes(address), shown);
    return shown;
  });
  assert.doesNotMatch(text, /No active events|No drop|0 per second/, 'it says nothing of what cannot be known');
  await accessible(page, 'empty');
  for (const name of ['topology', 'flows', 'latency', 'queues', 'drops', 'events', 'collector', 'nonsense']) {
    await page.evaluate((to) => {
      location.hash = to;
    }, `#/${name}`);
    await page.waitForFunction(() => !/Loading …/.test(document.querySelector('main').textContent));
    assert.doesNotMatch(await page.textContent('main'), /Infinity|NaN|undefined/, name);
  }
  assert.match(await page.textContent('main'), /no page “nonsense”/);
  for (const [hash, says] of [
    ['reports', 'keeps no datagrams'],
    ['alerts', 'has no alert rules'],
  ]) {
    await page.evaluate((to) => {
      location.hash = to;
    }, `#/${hash}`);
    await page.waitForFunction((text) => document.querySelector('main').textContent.includes(text), says);
    const { paddingLeft } = await page
      .locator('main .panel.empty')
      .evaluate((panel) => ({ ...getComputedStyle(panel) }));
    assert.ok(Number.parseFloat(paddingLeft) > 8, `${hash}: ${paddingLeft}`);
  }
  page.expected.push('404'); // what the browser says of the answers
});

test('what came and could not be read is listed with why, on the page that leads to the first path', async () => {
  const page = await open('#/overview', { viewport: { width: 1280, height: 1000 } });
  const now = page.locator('h3[aria-current=step]');
  assert.match(await now.textContent(), /Datagrams arrive/);
  await page.getByText('waybill fabric link-failure --reports').waitFor();
  await shoot(page, 'start-nothing');
  const [{ address }] = (await ask('listeners')).listeners;
  const [, host, port] = /^(?:udp:\/\/)?(.*):(\d+)$/.exec(address);
  const socket = createSocket('udp4');
  for (let i = 0; i < 2; i++) await new Promise((done) => socket.send('no report', Number(port), host, done));
  socket.close();
  const row = page.getByRole('region', { name: 'Heard so far' }).locator('tbody tr');
  await row.waitFor();
  const { exporters } = await ask('exporters');
  const [[reason, count]] = Object.entries(exporters[0].malformed);
  await eventually(async () =>
    assert.ok((await row.innerText()).includes(`2 malformed: ${reason.replaceAll('_', ' ')}`), await row.innerText()),
  );
  assert.ok(count > 0 && (await row.innerText()).startsWith(exporters[0].source));
  assert.match(await now.textContent(), /They are reports/);
  await page.getByRole('link', { name: 'find its dialect' }).waitFor();
  await accessible(page, 'the way to the first path');
  await shoot(page, 'start-malformed');
});

test('a server that keeps no datagrams is asked for them once', async () => {
  const page = await open('#/collector');
  await eventually(() => assert.ok(page.problems.some((text) => text.includes('404')))); // the first answer
  // The browser tells of it before the page has read it.
  await page.waitForFunction(() =>
    performance.getEntriesByType('resource').some((entry) => entry.name.includes('v1/reports')),
  );
  await page.evaluate(() => new Promise((resolve) => setTimeout(resolve, 300)));
  let asked = 0;
  page.on('request', (request) => {
    if (/v1\/reports/.test(request.url())) asked++;
  });
  for (const hash of ['overview', 'collector', 'overview', 'collector']) {
    await go(page, `#/${hash}`);
    await page.waitForTimeout(300);
  }
  assert.equal(asked, 0, 'after the first time');
  assert.equal(page.problems.filter((text) => text.includes('404')).length, 1);
  page.problems = [];
});

test('a server that keeps nothing says how to keep something', async () => {
  const page = await open();
  for (const hash of ['#/explore', '#/flows?since=1h']) {
    await page.evaluate((to) => {
      location.hash = to;
    }, hash);
    await page.waitForFunction(() => /No store configured/.test(document.querySelector('main').textContent));
    assert.match(await page.textContent('main'), /waybill serve --data/);
    assert.equal(await page.locator('[role=alert]').count(), 0);
  }
  page.expected.push('404'); // what the browser says of the answers
});

test('a server that keeps nothing says what to do', async () => {
  const page = await open('#/latency');
  for (const name of ['latency', 'queues', 'drops', 'overview', 'topology']) {
    await page.evaluate((to) => {
      location.hash = to;
    }, `#/${name}?since=15m`);
    await page.waitForSelector('main [role=alert]');
    assert.match(await page.textContent('main [role=alert]'), /--data DIR/, name);
    await accessible(page, name);
    await page.getByRole('button', { name: 'Show now' }).first().click();
    await page.waitForFunction((to) => location.hash === to, `#/${name}`);
  }
  page.expected.push('404');
});

test('a server that is gone shows, and the page recovers', async () => {
  const page = await open('#/collector');
  await page.route('**/api/v1/**', (route) => route.abort());
  await state(page, 'disconnected');
  assert.match(await page.textContent('.problem'), /Disconnected, retrying.*figures below are of/s);
  assert.ok((await page.textContent('main')).includes('Listeners'), 'the old figures stay');
  await page.unroute('**/api/v1/**');
  await state(page, 'live');
  await page.waitForSelector('.problem', { state: 'detached' });
  page.expected.push(/ERR_FAILED|404/); // what the browser says of requests cut off, and of raw reports
});

test('a server that starts slowly, or has too much to do', async () => {
  const page = await open('#/flows');
  await page.route('**/api/v1/flows*', (route) =>
    route.fulfill({
      status: 503,
      contentType: 'application/problem+json',
      body: '{"detail":"256 requests are being answered"}',
    }),
  );
  await state(page, 'disconnected');
  assert.match(await page.textContent('.problem'), /256 requests/);
  await page.unroute('**/api/v1/flows*');
  await state(page, 'live');
  page.expected.push('503');
});

test('the code of a page that does not come is fetched again', async () => {
  const page = await open('#/overview');
  await page.route('**/assets/Flows-*.js', (route) => route.abort());
  await page.evaluate(() => {
    location.hash = '#/flows?order=drops';
  });
  await page.waitForSelector('main [role=alert]');
  assert.match(await page.textContent('main [role=alert]'), /Could not load this page/);
  await page.unroute('**/assets/Flows-*.js');
  await page.getByRole('textbox', { name: 'Source' }).waitFor();
  assert.equal(await page.evaluate(() => location.hash), '#/flows?order=drops');
  page.expected.push(/ERR_FAILED|404/); // what the browser says of the file, and of the session
});

test('one question at a time, and none while the page is hidden', async () => {
  const page = await open('#/flows');
  let asked = 0;
  let open_ = 0;
  let most = 0;
  await page.route('**/api/v1/flows*', async (route) => {
    asked++;
    most = Math.max(most, ++open_);
    await new Promise((done) => setTimeout(done, 2500)); // longer than the time between questions
    open_--;
    await route.continue().catch(() => null);
  });
  while (asked < 2) await page.waitForTimeout(50);
  assert.equal(most, 1);
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { value: true, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  const before = asked;
  await page.waitForTimeout(3000);
  assert.equal(asked, before);
  await page.evaluate(() => {
    Object.defineProperty(document, 'hidden', { value: false, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  while (asked === before) await page.waitForTimeout(50);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  page.expected.push('ERR_');
});

test('the content security policy holds', async () => {
  const page = await open();
  await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'window.broken = true';
    document.head.append(script);
  });
  assert.equal(await page.evaluate(() => window.broken), undefined);
  assert.ok(
    page.problems.some((text) => text.includes('Content Security Policy')),
    'a violation is seen',
  );
  page.problems = [];
});

test('the demo network is started with a button, and stopped', async () => {
  const page = await open('#/overview');
  await page.getByRole('button', { name: 'Start the demo network' }).click();
  await page.getByRole('link', { name: 'The first path' }).waitFor();
  const way = await page.locator('p', { has: page.getByRole('link', { name: 'The first path' }) }).innerText();
  assert.match(way, /The first path: node \d/);
  await shoot(page, 'start-path');
  await page.waitForFunction(() => Number(document.querySelector('#rate')?.textContent.replace(/[^0-9]/g, '')) > 0);
  const state = await ask('demo');
  assert.ok(state.running && Date.parse(state.ends) - Date.now() <= 600_000, JSON.stringify(state));
  await eventually(async () => assert.equal((await ask('topology')).nodes.length, 6));
  const [{ malformed, damaged }] = (await ask('listeners')).listeners;
  assert.deepEqual([malformed, damaged], [2, 0]); // those that were none
  await page.getByRole('button', { name: 'Stop it' }).click();
  await page.waitForFunction(() => !/An emulated network reports/.test(document.querySelector('main').textContent));
  const { running, failed } = await ask('demo');
  assert.deepEqual([running, failed], [false, undefined]);
});
