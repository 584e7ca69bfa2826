// Answers that are slow, or none: what a page says of them, and that it goes on by itself.
import assert from 'node:assert/strict';
import { accessible, connect, eventually, finish, open, test } from './browser.js';

const state = (page, want) =>
  page.waitForFunction((s) => document.querySelector('[data-state]').dataset.state === s, want);

test.beforeAll(connect);
test.afterAll(finish);

test('answers that are slow say so, and can be cancelled', async () => {
  const page = await open('#/events');
  let asked = 0;
  await page.route(/api\/v1\/drops/, async (route) => {
    asked++;
    await new Promise((done) => setTimeout(done, 10_000)); // the server itself takes up to 20 s
    await route.continue().catch(() => null);
  });
  await page.evaluate(() => {
    location.hash = '#/overview';
  });
  const note = page.getByText(/Querying, \d+ s/);
  await note.waitFor();
  assert.equal(await page.locator('.figures').count(), 0);
  await page.locator('.figures').waitFor(); // the answer, when it comes
  assert.equal(await page.locator('[data-state]').getAttribute('data-state'), 'live');
  await note.waitFor(); // the next question
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.getByText('Cancelled').waitFor();
  const before = asked;
  await page.waitForTimeout(2500);
  assert.equal(asked, before, 'nothing is asked after that');
  await accessible(page, 'cancelled');
  await page.getByRole('button', { name: 'Ask again' }).click();
  await note.waitFor();
  await eventually(() => assert.equal(asked, before + 2, 'how many, and where most'));
  await page.evaluate(() => {
    location.hash = '#/events';
  }); // another page asks its own question
  await page.getByText(/events, the latest first/).waitFor();
  await note.waitFor({ state: 'hidden' });
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  page.expected.push('ERR_');
});

test('a page that asks for nothing shows that the server is gone, and is there again', async () => {
  const page = await open('#/docs');
  await page.getByRole('heading', { level: 1 }).first().waitFor();
  await page.route('**/api/v1/**', (route) => route.abort());
  await state(page, 'disconnected');
  assert.match(await page.textContent('header ~ .problem'), /does not answer/);
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await state(page, 'live');
  page.expected.push('ERR_FAILED');
});

test('no answer stops a page for good, whatever it is', async () => {
  const page = await open('#/alerts');
  for (const [hash, body] of [
    ['overview', ''],
    ['flows', '{}'],
    ['drops', ''],
    ['docs', '{}'],
    ['explore?since=10m', '{}'],
    ['topology', '[1,2]'],
    ['latency?since=10m', 'null'],
  ]) {
    await page.route('**/api/v1/**', (route) => route.fulfill({ contentType: 'application/json', body }));
    await page.evaluate((to) => {
      location.hash = to;
    }, `#/${hash}`);
    await state(page, 'disconnected');
    assert.match(await page.textContent('header ~ .problem'), /not that of a Waybill server/, `${hash}: ${body}`);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await state(page, 'live');
    await page.waitForFunction(
      () => document.querySelector('main h1') && !/Loading …/.test(document.querySelector('main').textContent),
    );
    assert.equal(await page.locator('main [role=alert]').count(), 0, hash);
  }
  page.expected.push('EventSource'); // the stream got such an answer too
});

test('an answer that is right outside and wrong inside is an error on the page, and over soon', async () => {
  const page = await open('#/drops');
  await page.route('**/api/v1/flows?*', (route) =>
    route.fulfill({
      contentType: 'application/json',
      body: JSON.stringify({ generated_at: new Date().toISOString(), total: 1, flows: [{ id: 'a' }] }),
    }),
  );
  await page.evaluate(() => {
    location.hash = '#/flows';
  });
  await page.waitForFunction(() =>
    /met an answer that it cannot show/.test(document.querySelector('main [role=alert]')?.textContent),
  );
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.getByRole('region', { name: 'Flows' }).waitFor();
  assert.equal(await page.locator('main [role=alert]').count(), 0);
  page.expected.push('TypeError'); // it is told to the console of the browser too
});
