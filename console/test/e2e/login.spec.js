// Logging in: a link of a colleague leads to what it shows, whatever comes in between.
import assert from 'node:assert/strict';
import { base, connect, finish, fresh, ready, test, token } from './browser.js';

const shown = '#/events?severity=warning&filter=kind+%3D+%22link_lost%22';

async function logIn(page, text) {
  await page.fill('#token', text);
  await Promise.all([page.waitForResponse((answer) => answer.request().method() === 'POST'), page.click('button')]);
}

/** there waits until the page shows what the link says. */
async function there(page, hash) {
  await page.waitForSelector('[data-state]');
  await ready(page);
  assert.equal(page.url(), base + hash);
  assert.equal(await page.textContent('main h1'), 'Events');
  expected(page);
}

/** expected is what the browser says of the page to log in at, which has no icon. */
function expected(page) {
  page.expected.push(/status of 40[14]/);
}

test.beforeAll(connect);
test.afterAll(finish);

test('a link leads to its page', async () => {
  const page = await fresh();
  await page.goto(base + shown);
  await logIn(page, token);
  await there(page, shown);
});

test('also after a token that is wrong', async () => {
  const page = await fresh();
  await page.goto(base + shown);
  await logIn(page, 'wb_wrong');
  await page.waitForSelector('[role=alert]');
  await logIn(page, token);
  await there(page, shown);
});

test('and in a tab whose session ended', async () => {
  const page = await fresh();
  await page.goto(base);
  await logIn(page, token);
  await page.waitForSelector('[data-state]');
  await page.evaluate((hash) => {
    location.hash = hash;
  }, shown);
  await there(page, shown);
  await page.context().clearCookies(); // as after twelve hours: the next question is refused
  await page.waitForSelector('#token');
  await logIn(page, token);
  await there(page, shown);
});

test('who may only read sees that nothing can be silenced', async () => {
  const page = await fresh();
  await page.goto(`${base}#/alerts`);
  await logIn(page, token);
  await page.waitForFunction(() =>
    /operator may read only: this needs the role operate/.test(document.querySelector('main')?.textContent),
  );
  assert.ok(await page.getByRole('button', { name: 'Silence', exact: true }).isDisabled());
  expected(page);
});

test('no link leads to another host', async () => {
  for (const hash of [
    '#https://example.com/',
    '#//example.com/',
    '#/../../x',
    '#@example.com',
    '#?next=https://example.com/',
  ]) {
    const page = await fresh();
    await page.goto(base + hash);
    await logIn(page, token);
    await page.waitForSelector('[data-state]');
    assert.equal(page.url(), base + hash);
    expected(page);
  }
});
