// Alerts, silences, and who takes care of an event: changes by the console are what the API then says.
import assert from 'node:assert/strict';
import { accessible, ask, base, connect, finish, go, open, shoot, silent, test } from './browser.js';

const rowsOf = async (page, label) =>
  Number(await page.locator(`[aria-label="${label}"] table`).getAttribute('aria-rowcount')) - 1;

test.beforeAll(connect);
test.afterAll(finish);

test('rules, outputs and alerts', async () => {
  const page = await open('#/alerts');
  const [{ rules }, { outputs }, { alerts }] = await Promise.all(
    ['rules', 'outputs', 'alerts'].map((list) => ask(list)),
  );
  assert.equal(await rowsOf(page, 'Rules'), rules.length);
  assert.equal(await rowsOf(page, 'Alerts'), alerts.length);
  assert.ok(alerts.length > 0);
  await page.waitForFunction(() => /attempts? failed/.test(document.querySelector('[aria-label=Outputs]').textContent));
  assert.ok(outputs[0].failures > 0);
  assert.match(await page.textContent('main'), /connection refused/);
  // Nobody was told: the output takes nothing.
  const told = alerts.flatMap((a) => a.told ?? []);
  assert.ok(told.length > 0 && told.every((t) => t.delivered === null && t.waiting), JSON.stringify(told));
  const cells = (
    await page.locator('[aria-label=Alerts] tbody tr:not(.rest) td:nth-child(5)').allTextContents()
  ).filter((text) => text.includes('pager'));
  assert.ok(
    cells.length > 0 && cells.every((text) => /pager not delivered, tried again$/.test(text.trim())),
    JSON.stringify(cells),
  );
  await page.locator('label:has-text("Status") select').selectOption('pending');
  const { total } = await ask('alerts?state=pending');
  await page.waitForFunction((n) => document.querySelectorAll('[aria-label=Alerts] tbody tr').length === n, total);
  await accessible(page, 'alerts');
  await go(page, '#/alerts');
  await shoot(page, 'alerts');
});

test('an event is acknowledged, and that is taken back', async () => {
  const {
    events: [event],
  } = await ask('events?limit=1', 'kind = drop_storm');
  const page = await open(`#/event?id=${event.id}`);
  await page.getByRole('button', { name: 'Acknowledge' }).click();
  await page.waitForFunction(() => /Acknowledged by/.test(document.querySelector('main').textContent));
  const mark = (await ask('events', `id = "${event.id}"`)).events[0].acknowledged;
  assert.ok(mark.by && Math.abs(Date.parse(mark.at) - Date.now()) < 60_000, JSON.stringify(mark));
  assert.ok((await page.textContent('.care')).includes(mark.by));
  await accessible(page, 'event');
  await shoot(page, 'event');
  await go(page, '#/events?acknowledged=true');
  assert.equal(await rowsOf(page, 'Events'), (await ask('events?acknowledged=true')).total);
  await go(page, `#/event?id=${event.id}`);
  await page.getByRole('button', { name: 'Unacknowledge' }).click();
  await page.getByRole('button', { name: 'Acknowledge' }).waitFor();
  assert.equal((await ask('events?acknowledged=true')).total, 0);
});

test('events of a time range', async () => {
  const page = await open('#/events?since=1h&severity=warning');
  const { total } = await ask('events?since=1h&limit=1000', 'severity >= warning');
  assert.ok(total > 0);
  assert.equal(await rowsOf(page, 'Events'), total);
  assert.equal(await page.locator('svg a rect').count(), total);
});

test('a silence about an event, by the clock of the server', async () => {
  const {
    events: [event],
  } = await ask('events?limit=1', 'kind = drop_storm');
  // The clock of this browser is an hour behind.
  const page = await open(`#/event?id=${event.id}`, { alone: true });
  await page.clock.setFixedTime(Date.now() - 3_600_000);
  await page.getByRole('link', { name: 'Silence alerts about it' }).click();
  await page.waitForFunction(() => location.hash.startsWith('#/alerts'));
  const filter = page.getByLabel('Alerts about events with');
  assert.equal(await filter.inputValue(), `kind = drop_storm and node = ${event.node} and egress_port = ${event.port}`);
  await page.getByLabel('are quiet for').selectOption('30');
  await page.getByLabel('because').fill('<i>new</i> line cards');
  await page.getByRole('button', { name: 'Silence', exact: true }).click();
  await page.getByRole('cell', { name: '<i>new</i> line cards' }).waitFor();
  const { silences } = await ask('silences');
  assert.equal(silences.length, 1);
  assert.ok(Math.abs(Date.parse(silences[0].until) - Date.now() - 1_800_000) < 60_000, silences[0].until);
  await page.getByRole('button', { name: /^End now the silence/ }).click();
  await page.waitForFunction(() => /Nothing is silenced/.test(document.querySelector('main').textContent));
  assert.equal((await ask('silences')).total, 0);
  await page.getByLabel('Alerts about events with').fill('kindd = loop');
  await page.getByRole('button', { name: 'Silence', exact: true }).click();
  await page.waitForSelector('main [role=alert]');
  assert.match(await page.textContent('main [role=alert]'), /kindd/);
  page.expected.push('400'); // what the browser says of the answer
});

test('what happens shows by the stream, whenever the page would ask', async () => {
  const {
    events: [event],
  } = await ask('events?limit=1', 'end is null and severity >= warning');
  for (const hash of ['events', 'overview']) {
    const page = await open('#/alerts', { alone: true });
    const streamed = page.waitForResponse(/events\/stream/);
    const answered = silent(page, /v1\/events\?/);
    await page.clock.install();
    await go(page, `#/${hash}`);
    await streamed;
    await answered(); // also what is asked as the stream begins
    await page.clock.pauseAt(Date.now() + 3600_000); // from here on no timer fires: the page does not ask by itself
    await answered();
    const again = page.waitForResponse(/v1\/events\?/);
    const answer = await fetch(`${base}api/v1/events/${event.id}/acknowledge`, { method: 'POST' });
    assert.equal(answer.status, 200);
    await again;
    if (hash === 'events') await page.locator('[aria-label=Events] .good').first().waitFor();
    await page.clock.resume();
    await fetch(`${base}api/v1/events/${event.id}/acknowledge`, { method: 'DELETE' });
  }
});
