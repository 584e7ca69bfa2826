// Incidents: the list and the page of one as the API has them.
import assert from 'node:assert/strict';
import { accessible, ask, base, connect, eventually, finish, go, open, shoot, span, test } from './browser.js';

test.beforeAll(connect);
test.afterAll(finish);

const text = (page) => page.textContent('main');
/** of returns an incident of the scenario whose cause is of one of these kinds, with the most events. */
async function of(...kinds) {
  const { incidents } = await ask('incidents?limit=1000');
  const [found] = incidents
    .filter((i) => kinds.includes(i.kind) && i.severity !== 'info')
    .sort((a, b) => b.events.length - a.events.length);
  assert.ok(found, `no incident of ${kinds} among ${incidents.map((i) => i.kind)}`);
  return found;
}

test('the list has what broke, now and in a range', async () => {
  const page = await open('#/incidents');
  const rows = async () =>
    Number(await page.locator('[aria-label="Incidents"] table').getAttribute('aria-rowcount')) - 1;
  for (const [hash, path] of [
    ['', 'incidents?limit=1000'],
    [`?${span}`, `incidents?${span}&limit=1000`],
  ]) {
    const { incidents, total } = await ask(path, 'severity >= warning');
    assert.ok(total > 0);
    await go(page, `#/incidents${hash}`);
    await eventually(async () => assert.equal(await rows(), total));
    assert.ok((await text(page)).includes(incidents[0].text));
    await go(page, `#/incidents?severity=all${hash.replace('?', '&')}`);
    const all = await ask(path);
    await eventually(async () => assert.equal(await rows(), all.total));
  }
  await accessible(page, 'incidents');
});

test('the page of an incident has its events, each below what it follows from', async () => {
  const incident = await of('link_lost');
  const page = await open(`#/incident?id=${incident.events.at(-1).id}`); // any of its events finds it
  assert.equal((await page.textContent('main h1')).trim(), incident.text);
  const chain = page.getByRole('list', { name: /Events/ }).locator('li:not(.axis)');
  assert.equal(await chain.count(), incident.events.length);
  const said = await chain.allTextContents();
  for (const event of incident.events) {
    const row = said.find((line) => line.includes(event.text));
    assert.ok(row, event.text);
    if (event.because) assert.ok(row.includes(`because ${event.because}`), row);
    assert.equal(row.includes('(likely)'), event.likely === true, row);
  }
  assert.equal(said.filter((line) => line.includes('the cause')).length, incident.events.filter((e) => !e.of).length);
  assert.ok((await text(page)).toLowerCase().includes(incident.action.toLowerCase()));
  assert.ok(incident.flows_hit > 0);
  const hit = await page.locator('dl div', { hasText: 'Flows hit' }).locator('dd').textContent();
  assert.ok(hit.endsWith(String(incident.flows_hit)), hit);
  assert.equal(await page.locator('canvas').count(), 1);
  await accessible(page, 'incident');
  await shoot(page, 'incident');
  await page.setViewportSize({ width: 390, height: 844 });
  const flows = page.locator('section', { has: page.getByRole('heading', { name: 'Flows behind it' }) });
  await eventually(async () =>
    assert.equal(await flows.locator('.scrolls').evaluate((frame) => frame.scrollWidth - frame.clientWidth), 0),
  );
  assert.equal(await flows.locator('tbody td').nth(1).getAttribute('data-title'), 'What it did');
  const whole = (cell) => cell.scrollWidth <= cell.clientWidth && cell.clientWidth > 300;
  assert.ok(await flows.locator('tbody td').first().evaluate(whole), 'a flow is cut');
  await flows.scrollIntoViewIfNeeded();
  await shoot(page, 'phone-incident');
  await page.setViewportSize({ width: 1280, height: 900 });
});

test('drops, queue, latency and utilization around an incident, on one cursor', async () => {
  const incident = await of('microburst', 'incast');
  const from = new Date(Math.floor((Date.parse(incident.start) - 120_000) / 1000) * 1000).toISOString();
  const [most] = (
    await ask(`drops?since=${from}&group_by=&interval=10s&order=packets&limit=1`, `node = ${incident.node}`)
  ).drops;
  const page = await open(`#/incident?id=${incident.id}`);
  const part = page.locator('section', { has: page.getByRole('heading', { name: 'Before, during and after' }) });
  await part.getByRole('group', { name: /^Graph/ }).focus();
  await page.keyboard.press('Home');
  const told = part.getByRole('status');
  for (let i = 0; i < 60; i++) {
    if ((await told.locator('time').getAttribute('datetime')) === new Date(most.start).toISOString()) break;
    await page.keyboard.press('ArrowRight');
  }
  const said = (await told.textContent()).replaceAll(/\s+/g, ' ');
  const digits = most.packets < 1000 ? `${most.packets}` : `${Number((most.packets / 1000).toPrecision(3))}k`;
  assert.ok(said.includes(`Packets dropped ${digits}`), `${said}: ${most.packets}`);
  assert.match(said, /Longest queue [\d.]+ kB/);
  // A link tells how much of it is used, too.
  await go(page, `#/incident?id=${(await of('link_lost')).id}`);
  await part.locator('svg .title', { hasText: 'Highest utilization' }).waitFor();
});

test('who takes care of an incident, notes and a silence are there for others', async () => {
  const incident = await of('link_lost');
  const page = await open(`#/incident?id=${incident.id}`);
  const care = page.locator('section', { has: page.getByRole('heading', { name: 'Acknowledgement' }) });
  await care.getByLabel('Note').fill('the optics are being replaced');
  await care.getByRole('button', { name: 'Acknowledge' }).click();
  await care.getByText('Acknowledged by').waitFor();
  const other = await open('#/incidents?filter=acknowledged');
  await other.locator('tr', { hasText: incident.text }).getByRole('link').first().click();
  await other.getByText('the optics are being replaced').waitFor();
  await care.getByRole('button', { name: 'Silence its alerts' }).click();
  await care.getByText('Its alerts are silent until').waitFor();
  const { silences } = await ask('silences');
  const mine = silences.find((s) => s.filter.includes(incident.id));
  assert.ok(mine, JSON.stringify(silences));
  await fetch(`${base}api/v1/silences/${mine.id}`, { method: 'DELETE' });
  await care.getByRole('button', { name: 'Unacknowledge' }).click();
  await care.getByRole('button', { name: 'Acknowledge', exact: true }).waitFor();
  assert.equal((await ask(`incidents/${incident.id}`)).incident.acknowledged, undefined);
});

test('an incident that nobody knows', async () => {
  const page = await open('#/incidents');
  page.expected.push('404');
  await page.evaluate(() => {
    location.hash = '#/incident?id=0123456789abcdef';
  });
  await page.getByText('No incident with this id is known').waitFor();
});
