// Time zones, a browser that slept, and answers that are none.
import assert from 'node:assert/strict';
import { ask, connect, eventually, finish, endpoints, go, open, span, test } from './browser.js';

const state = (page, want) =>
  page.waitForFunction((s) => document.querySelector('[data-state]').dataset.state === s, want);

test.beforeAll(connect);
test.afterAll(finish);

test('times are of the zone of the browser, with UTC on hover', async () => {
  const {
    events: [event],
  } = await ask('events?limit=1');
  for (const timezoneId of ['Asia/Kolkata', 'America/St_Johns']) {
    const page = await open(`#/event?id=${event.id}`, { timezoneId });
    const shown = page.locator(`time[datetime="${event.start}"]`).first();
    const want = new Date(event.start).toLocaleTimeString('en-US', { hourCycle: 'h23', timeZone: timezoneId });
    assert.ok(
      (await shown.textContent()).includes(want),
      `${await shown.textContent()}, want ${want} in ${timezoneId}`,
    );
    assert.equal(await shown.getAttribute('title'), `${event.start.replace('T', ' ').replace('Z', '')} UTC`);
  }
});

test('pictures say their times in both zones too', async () => {
  const timezoneId = 'Asia/Kolkata';
  const {
    flows: [flow],
  } = await ask(`flows?${span}&limit=1`);
  const until = new URLSearchParams(span).get('until');
  const frame = `since=${new Date(Date.parse(until) - 900_000).toISOString()}&until=${until}`;
  const local = (ms) => new Date(ms).toLocaleTimeString('en-US', { hourCycle: 'h23', timeZone: timezoneId });
  const utc = (ms) => new Date(ms).toISOString().slice(11, 19);
  const { times } = await ask(`heatmap?of=hops&${frame}&interval=10s`);
  const page = await open(`#/latency?${frame}`, { timezoneId });
  for (const hash of [`latency?${frame}`, `queues?${frame}`, `drops?${frame}`]) {
    await go(page, `#/${hash}`);
    await page.waitForFunction(() => Number(document.querySelector('canvas')?.dataset.columns) > 0);
    await page.locator('canvas').first().focus();
    await page.keyboard.press('End');
    const at = Date.parse(await page.locator('.hint time').getAttribute('datetime'));
    if (hash.startsWith('latency')) assert.equal(at, Date.parse(times.at(-1)));
    const [here, there] = [await page.textContent('.hint time'), await page.textContent('.hint .muted')];
    assert.ok(here.startsWith(local(at)), `${hash}: ${here}, want ${local(at)}`);
    assert.ok(there.includes(` ${utc(at)} – `) && there.endsWith(' UTC'), `${hash}: ${there}, want ${utc(at)}`);
    assert.ok(!(await page.textContent('.hint')).includes('undefined'));
    const [hint, frame] = await page.evaluate(() =>
      ['.hint', 'main'].map((name) => {
        const box = document.querySelector(name).getBoundingClientRect();
        return [box.left, box.right];
      }),
    );
    assert.ok(hint[0] >= frame[0] && hint[1] <= frame[1], `${hash}: the hint is from ${hint} in ${frame}`);
  }
  // Where no column is, the time is said all the same, and that nothing is known of it.
  const now = new Date();
  await go(page, `#/latency?since=${new Date(now - 30 * 86_400_000).toISOString()}&until=${now.toISOString()}`);
  await page.waitForFunction(() => Number(document.querySelector('canvas')?.dataset.columns) > 0);
  await page.locator('canvas').hover({ position: { x: 300, y: 100 } });
  await page.waitForFunction(() => /no record of this time/.test(document.querySelector('.hint')?.textContent));
  assert.match(await page.textContent('.hint .muted'), /^2026-.* UTC$/);
  // Pictures of shapes have it in their titles.
  const q = endpoints(flow);
  for (const [hash, where] of [
    [`flow?${q}&${frame}`, '.lanes'],
    [`explore?of=hops&graph=heat&${frame}`, 'section svg[role=img]'],
    [`explore?of=hops&graph=lines&${frame}`, '.chart svg'],
  ]) {
    await go(page, `#/${hash}`);
    await page.waitForSelector(`${where} text title`, { state: 'attached' });
    const shown = await page
      .locator(`${where} text:has(title)`)
      .evaluateAll((all) => all.map((text) => [text.firstChild.textContent, text.querySelector('title').textContent]));
    const times = shown.filter(([, title]) => title.endsWith('UTC'));
    assert.ok(times.length > 1, `${hash}: ${shown}`);
    for (const [text, title] of times) {
      const want = local(Date.parse(`${title.slice(0, 19).replace(' ', 'T')}Z`));
      assert.ok(want.startsWith(text.split(' ').at(-1)), `${hash}: ${text} is ${title}, ${want}`);
    }
    const pieces = await page.locator(`${where} rect title`).allTextContents();
    assert.ok(
      (pieces.length > 0 || where === '.chart svg') && pieces.every((title) => title.includes(' UTC')),
      `${hash}: ${pieces[0]}`,
    );
  }
});

test('ages are by the clock of the server, however wrong that of the browser is', async () => {
  const page = await open('#/overview', { alone: true });
  await page.clock.setFixedTime(Date.now() + 86_400_000);
  await go(page, '#/flows?limit=100&order=last');
  const {
    flows: [flow],
    generated_at,
  } = await ask('flows?limit=1&order=last');
  const minutes = (Date.parse(generated_at) - Date.parse(flow.last)) / 60_000;
  const said = await page.locator('[aria-label=Flows] tbody tr').first().locator('time').textContent();
  assert.match(said, minutes < 2 ? /^(now|[0-9]+ s ago)$/ : /^[0-9]+ min ago$/);
  // A link that says a time by the time when it is opened.
  const clock = async () => Date.parse((await ask('flows?limit=1')).generated_at);
  const before = await clock();
  const other = await open('#/flows?since=10m&until=5m', {}, () => {
    const real = Date.now.bind(Date);
    Date.now = () => real() + 10_800_000;
  });
  await other.waitForFunction(() => /since=20/.test(location.hash));
  const since = Date.parse(new URLSearchParams((await other.evaluate(() => location.hash)).split('?')[1]).get('since'));
  const opened = since + 600_000; // between those two, and as old as the last answer
  assert.ok(opened > before - 10_000 && opened < (await clock()) + 1000, `${new Date(since).toISOString()}`);
});

test('after ten minutes of sleep the page asks again by itself', async () => {
  const page = await open('#/overview', { alone: true });
  await page.clock.install();
  await go(page, '#/collector');
  let asked = 0;
  await page.route('**/api/v1/loss*', async (route) => {
    asked++;
    await route.continue().catch(() => null);
  });
  await page.clock.fastForward('10:00'); // timers that are due fire once, as they do when a laptop wakes up
  await eventually(() => assert.ok(asked > 0));
  assert.ok(asked > 0 && asked < 10, `${asked} questions`);
  await state(page, 'live');
  assert.equal(await page.locator('main [role=alert]').count(), 0);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  page.expected.push('ERR_');
});

test('answers that are none, and their end', async () => {
  const page = await open('#/events');
  for (const answer of [
    { status: 200, contentType: 'text/html', body: '<h1>hotel Wi-Fi</h1>' },
    { status: 502, body: 'bad gateway' },
    { status: 500, contentType: 'application/problem+json', body: '{"detail":"<b>broken</b>"}' },
  ]) {
    await page.route('**/api/v1/events?*', (route) => route.fulfill(answer));
    await state(page, 'disconnected');
    assert.match(
      await page.textContent('header ~ .problem'),
      /Disconnected, retrying: (the answer is not that of a Waybill server|502|<b>broken<\/b>)/,
    );
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await state(page, 'live');
  }
  assert.ok((await page.textContent('main')).includes('events, the latest first'), 'the old figures stay');
  page.expected.push(/50[02]/); // what the browser says of the answers
});

test('an exporter that sends to two collectors is there twice', async () => {
  const page = await open('#/events');
  await page.route(/\/api\/v1\/(exporters|loss)\?/, async (route) => {
    const response = await route.fetch();
    const answer = await response.json();
    for (const name of ['exporters', 'loss'])
      answer[name] &&= answer[name].flatMap((item) => [item, { ...item, collector: 'another', hw_id: 9 }]);
    await route.fulfill({ response, json: answer });
  });
  for (const hash of ['overview', 'collector'])
    for (const when of ['', span]) {
      await go(page, `#/${hash}?${when}`);
      await page.waitForFunction(() =>
        document.querySelector('main table tbody tr, main svg, main canvas, main [role=alert]'),
      );
      await page.waitForTimeout(300); // what is below comes a moment later
      assert.deepEqual(await page.locator('main [role=alert]').allTextContents(), [], `${hash} ${when}`);
    }
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});
