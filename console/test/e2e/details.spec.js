// What pages say in their details: of addresses that are wrong, of a filter that is, and what can be done with what they show.
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import {
  accessible,
  ask,
  connect,
  endpoints,
  eventually,
  finish,
  go,
  open,
  painted,
  ready,
  span,
  test,
} from './browser.js';

test.beforeAll(connect);
test.afterAll(finish);

const hash = (page) => page.evaluate(() => location.hash);

test('a value of the address that is none is named', async () => {
  const page = await open('#/docs');
  for (const [where, param] of [
    ['latency?since=10m&of=zzz', 'of'],
    ['explore?of=zzz', 'of'],
    ['explore?graph=zzz', 'graph'],
    ['flows?group=zzz', 'group'],
  ]) {
    await go(page, `#/${where}`);
    await page.getByText(`“zzz” is no value of ${param}: it is one of`).waitFor();
  }
});

test('what is not known is named by its address', async () => {
  const page = await open('#/flow?src=192.0.2.1&dst=192.0.2.2&sport=1234&dport=443&protocol=tcp');
  assert.equal(await page.textContent('main h1'), '192.0.2.1:1234 → 192.0.2.2:443 tcp');
  await go(page, '#/event?id=0123456789abcdef');
  assert.match(await page.textContent('main'), /No event with this id is known: there was none/);
});

test('a wrong filter is told once', async () => {
  const page = await open('#/docs');
  for (const where of ['flows', 'queues', 'drops', 'latency?since=1h']) {
    await page.evaluate(
      (to) => {
        location.hash = to;
      },
      `#/${where}${where.includes('?') ? '&' : '?'}filter=packetz%20%3D%201`,
    );
    await page.locator('[id$=-wrong]').waitFor();
    await page.waitForFunction(() => !/Loading …/.test(document.querySelector('main').textContent));
    const told = () => [...document.querySelectorAll('main [role=alert]')].map((e) => e.textContent);
    await page.waitForFunction(() => document.querySelectorAll('main [role=alert]').length === 1);
    assert.match((await page.evaluate(told)).join(), /packetz/, where);
  }
  page.expected.push('400'); // what the browser says of the answers
});

test('the form for a range of its own closes when something else is touched', async () => {
  const page = await open('#/drops?since=10m');
  await page.getByRole('button', { name: /Custom/ }).click();
  await page.getByLabel('From', { exact: true }).click();
  assert.ok(await page.locator('#custom-range').isVisible());
  await page.mouse.click(1000, 700);
  await page.locator('#custom-range').waitFor({ state: 'hidden' });
});

test('Escape on a picture that was not zoomed leaves the range as it is', async () => {
  const page = await open('#/latency?since=1h');
  await page.locator('canvas').focus();
  await page.keyboard.press('End');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Earlier' }).focus(); // what Escape does is done by then
  assert.equal(await hash(page), '#/latency?since=1h');
});

test('drops of an event are those of a node and a reason by name', async () => {
  const { events } = await ask('events?limit=100', 'kind = drop_storm');
  const event = events.find((e) => e.name && e.reason_name);
  const page = await open(`#/event?id=${event.id}`);
  await page.getByRole('link', { name: 'Drops there' }).click();
  await page.waitForFunction(() => location.hash.startsWith('#/drops'));
  assert.equal(await page.getByRole('textbox', { name: 'Node' }).inputValue(), event.name);
  assert.equal(await page.getByRole('textbox', { name: 'Reason' }).inputValue(), event.reason_name);
});

test('a link that an event says is lost shows so, however short its outage was, and leads to its flows', async () => {
  const page = await open('#/docs');
  const { links, nodes } = await ask('topology');
  const [{ from, to }] = links;
  const ends = [from, to].sort((a, b) => a - b);
  const now = new Date().toISOString();
  const lost = { id: 'a', kind: 'link_lost', severity: 'critical', start: now, end: null, node: from, to_node: to };
  await page.route(/v1\/events\?/, (route) =>
    route.fulfill({ json: { generated_at: now, total: 1, events: [{ ...lost, count: 1, text: 'lost' }] } }),
  );
  await page.route(/v1\/flows\?.*last/, async (route) => {
    // What went by before the last packet came, as if it were now.
    const answer = await (await route.fetch({ url: route.request().url().replace('now-30s', 'now-1h') })).json();
    const newest = answer.flows.map((flow) => flow.last).sort();
    await route.fulfill({ json: { ...answer, generated_at: newest.at(-1) ?? now } });
  });
  await go(page, `#/topology?link=${ends.join('+')}`);
  const panel = page.locator('aside[aria-label=Link]');
  await panel.getByText('No traffic over it').waitFor();
  assert.equal(nodes.length, 6);
  await panel.locator('a.mono, .mono a').first().click();
  await page.waitForFunction(() => location.hash.startsWith('#/flow?'));
  await page.unrouteAll({ behavior: 'ignoreErrors' });
});

test('a hop that drops has no bar, not even a thin one', async () => {
  const { flows } = await ask('flows?order=drops&limit=50');
  const flow = flows.find(({ paths }) => paths.some(({ hops }) => hops?.at(-1)?.dropped));
  const page = await open(`#/flow?${endpoints(flow)}`);
  const dropped = page.locator('tr', { hasText: '✕ dropped here' });
  await dropped.first().waitFor();
  assert.equal(await dropped.locator('.lane').count(), await dropped.count());
  assert.equal(await dropped.locator('.fill').count(), 0);
  // What is drawn in several pieces is one picture: here a lane for each path.
  await page
    .getByRole('img', { name: /^When packets took/ })
    .first()
    .waitFor();
  const [png] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'PNG: Paths over time' }).click(),
  ]);
  const bytes = await readFile(await png.path());
  assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
  const lanes = await page.getByRole('img', { name: /^When packets took/ }).count();
  assert.ok(bytes.readUInt32BE(20) > 2 * 40 * lanes, `${bytes.readUInt32BE(20)} px for ${lanes} lanes`);
  if (process.env.CONSOLE_SHOTS) await png.saveAs(`${process.env.CONSOLE_SHOTS}/png-paths.png`);
});

test('a list is there as CSV, a picture as PNG', async () => {
  const page = await open('#/drops');
  const { total } = await ask('drops');
  const [csv] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'CSV: Locations' }).click(),
  ]);
  const lines = (await readFile(await csv.path(), 'utf8')).trim().split('\n');
  assert.equal(csv.suggestedFilename(), 'drops.csv');
  assert.equal(lines.length, total + 1);
  assert.match(lines[0], /reason_name/);
  const [png] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'PNG: Drops by' }).click(),
  ]);
  const bytes = await readFile(await png.path());
  assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
  assert.ok(bytes.length > 5000, `${bytes.length} bytes`);
  // A box of the picture leads to the drops that it stands for.
  const [{ name }] = (await ask('drops?limit=1')).drops;
  await page
    .getByRole('group', { name: /^Drops by/ })
    .locator('a', { hasText: name })
    .click();
  await page.waitForFunction((node) => location.hash.includes(`node=${node}`), name);
  const { total: there } = await ask('drops', `node = "${name}"`);
  await page.waitForFunction(
    (n) =>
      document.querySelector('main .unit')?.textContent &&
      [...document.querySelectorAll('main .unit')].some((unit) => unit.textContent.startsWith(`${n} places`)),
    there,
  );
  // So is a table of what no list has, as it is shown, and with the rows that are not in view.
  await go(page, '#/inventory');
  const [ports] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV: Ports' }).click(),
  ]);
  const shown = page.getByRole('region', { name: 'Ports' });
  const rows = (await readFile(await ports.path(), 'utf8')).trim().split('\r\n');
  assert.equal(rows.length, Number(await shown.locator('table').getAttribute('aria-rowcount')));
  const titles = await shown.locator('thead th').allInnerTexts();
  assert.deepEqual(
    rows[0].split(','),
    titles.map((title) => title.trim()),
  );
  assert.ok(
    rows.slice(1).every((row) => /^(leaf|spine)\d port \d,/.test(row)),
    rows.join('; '),
  );
  const [drawn] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'PNG: Ports' }).click(),
  ]);
  assert.equal(drawn.suggestedFilename(), 'ports.png');
  const picture = await readFile(await drawn.path());
  assert.equal(picture.subarray(1, 4).toString(), 'PNG');
  assert.ok(picture.readUInt32BE(20) > 2 * 20 * rows.length, `${picture.readUInt32BE(20)} px for ${rows.length} rows`);
  // And what is drawn over time, with the numbers themselves.
  await go(page, `#/overview?${span}`);
  const [course] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'CSV: Over time' }).click(),
  ]);
  const [head, ...steps] = (await readFile(await course.path(), 'utf8')).trim().split('\r\n');
  assert.equal(head, 'Time,Traffic,Packets dropped,Worst node latency,Reports received');
  const dropped = (await ask(`drops?${span}&group_by=`)).drops[0].packets;
  assert.equal(
    steps.reduce((sum, step) => sum + Number(step.split(',')[2]), 0),
    dropped,
  );
  // What is drawn on a canvas is a picture too.
  await go(page, `#/drops?${span}`);
  const [map] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'PNG: Drops over time' }).click(),
  ]);
  assert.equal(map.suggestedFilename(), 'drops-over-time.png');
  assert.equal((await readFile(await map.path())).subarray(1, 4).toString(), 'PNG');
});

test('ticks of time are at round times, where these are', async () => {
  const page = await open(`#/explore?of=hops&${span}&interval=10s`);
  await page.locator('.chart svg text:has(title)').first().waitFor();
  const ticks = await page
    .locator('.chart svg text:has(title)')
    .evaluateAll((texts) =>
      texts.map((text) => ({ x: Number(text.getAttribute('x')), utc: text.querySelector('title').textContent })),
    );
  const times = ticks.map(({ x, utc }) => ({ x, ms: Date.parse(`${utc.slice(0, 19).replace(' ', 'T')}Z`) }));
  assert.ok(times.length >= 3);
  const step = times[1].ms - times[0].ms;
  assert.ok(
    times.every(({ ms }) => ms % step === 0 && ms % 60_000 === 0),
    JSON.stringify(ticks),
  );
  // The pointer at a tick reads the piece that begins there.
  const svg = page.locator('.chart svg').first();
  const last = times.at(-1);
  await svg.hover({ position: { x: last.x + 3, y: 100 } });
  await page.waitForFunction((want) => Date.parse(document.querySelector('.when time')?.dateTime) === want, last.ms);
});

/** choose sets a field of the form that says how all pages look. */
async function choose(page, field, option) {
  await page.getByRole('button', { name: 'Display' }).click();
  const form = page.getByRole('dialog', { name: 'Display' });
  await form.getByLabel(field).selectOption(option);
  await accessible(page, 'display');
  await page.keyboard.press('Escape');
  await form.waitFor({ state: 'detached' });
}

test('the theme is that of the system, or the one that was chosen, also after the page was opened again', async () => {
  const page = await open('#/topology');
  const look = () =>
    page.evaluate(() => ({
      ground: getComputedStyle(document.body).backgroundColor,
      scheme: getComputedStyle(document.documentElement).colorScheme,
    }));
  await page.locator('main canvas').waitFor();
  await painted(page);
  const dark = { ground: 'rgb(14, 19, 25)', scheme: 'dark' };
  const light = { ground: 'rgb(243, 245, 248)', scheme: 'light' };
  const shows = (want) => eventually(async () => assert.deepEqual(await look(), want));
  await shows(light);
  const before = await page.locator('main canvas').evaluate((canvas) => canvas.toDataURL());
  await choose(page, 'Theme', 'dark');
  await shows(dark);
  await eventually(async () =>
    assert.notEqual(await page.locator('main canvas').evaluate((canvas) => canvas.toDataURL()), before),
  );
  await accessible(page, 'topology, dark by choice');
  await page.reload();
  await ready(page);
  await shows(dark);
  await choose(page, 'Theme', 'system');
  await shows(light);
  await page.emulateMedia({ colorScheme: 'dark' });
  await shows(dark);
  await choose(page, 'Theme', 'light');
  await shows(light);
});

test('times are those of the browser, or UTC: in tables, on axes and in fields', async () => {
  const page = await open(`#/events?${span}`);
  const row = page.getByRole('region', { name: 'Events' }).locator('tbody time').first();
  const at = await row.getAttribute('datetime');
  const clock = (zone) => new Date(at).toLocaleTimeString('en', { timeZone: zone, hourCycle: 'h23' });
  assert.ok((await row.textContent()).includes(clock('Europe/Berlin')), await row.textContent());
  await choose(page, 'Times', 'UTC');
  await eventually(async () => assert.ok((await row.textContent()).includes(clock('UTC')), await row.textContent()));
  assert.match(await page.locator('header time').textContent(), / UTC$/);
  const said = new URLSearchParams(span);
  await page.getByRole('button', { name: 'Custom …' }).click();
  assert.ok((await page.locator('#custom-range').textContent()).includes('in UTC'));
  assert.equal(await page.getByLabel('From').inputValue(), said.get('since').slice(0, 19));
  await page.getByRole('button', { name: 'Show' }).click();
  await page.waitForFunction(
    (want) => location.hash.includes(want),
    said.get('since').slice(0, 19).replaceAll(':', '%3A'),
  );
  // What stands at a mark of an axis is the time of its hint, which is in UTC.
  await go(page, `#/explore?of=hops&${span}&interval=10s`);
  const marks = page.locator('.chart svg text:has(title)');
  await marks.first().waitFor();
  for (const [text, hint] of await marks.evaluateAll((all) =>
    all.map((mark) => [mark.firstChild.textContent, mark.querySelector('title').textContent]),
  ))
    assert.ok(text.trim() && hint.slice(11).startsWith(text.trim().split(' ').at(-1)), `${text}: ${hint}`);
  await page.reload();
  await ready(page);
  await choose(page, 'Times', '');
  assert.ok(!(await page.locator('header time').textContent()).includes('UTC'));
});
