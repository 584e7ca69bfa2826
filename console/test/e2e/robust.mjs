// Time zones, a browser that slept, and answers that are none.
import assert from 'node:assert/strict';
import { ask, go, open, run } from './browser.mjs';

const state = (page, want) => page.waitForFunction((s) => document.querySelector('[data-state]').dataset.state === s, want);

await run({
  async 'times are of the zone of the browser, with UTC on hover'() {
    const { events: [event] } = await ask('events?limit=1');
    for (const timezoneId of ['Asia/Kolkata', 'America/St_Johns']) {
      const page = await open(`#/event?id=${event.id}`, { timezoneId });
      const shown = page.locator(`time[datetime="${event.start}"]`).first();
      const want = new Date(event.start).toLocaleTimeString('en-US', { hourCycle: 'h23', timeZone: timezoneId });
      assert.ok((await shown.textContent()).includes(want), `${await shown.textContent()}, want ${want} in ${timezoneId}`);
      assert.equal(await shown.getAttribute('title'), `${event.start.replace('T', ' ').replace('Z', '')} UTC`);
    }
  },

  async 'ages are by the clock of the server, however wrong that of the browser is'() {
    const page = await open('#/overview');
    await page.clock.setFixedTime(Date.now() + 86_400_000);
    await go(page, '#/flows?limit=100&order=last');
    const { flows: [flow], generated_at } = await ask('flows?limit=1&order=last');
    const minutes = (Date.parse(generated_at) - Date.parse(flow.last)) / 60_000;
    const said = await page.locator('[aria-label=Flows] tbody tr').first().locator('time').textContent();
    assert.match(said, minutes < 2 ? /^(now|[0-9]+ s ago)$/ : /^[0-9]+ min ago$/);
  },

  async 'after ten minutes of sleep the page asks again by itself'() {
    const page = await open('#/overview');
    await page.clock.install();
    await go(page, '#/collector');
    let asked = 0;
    await page.route('**/api/v1/loss*', async (route) => {
      asked++;
      await route.continue().catch(() => null);
    });
    await page.clock.fastForward('10:00'); // timers that are due fire once, as they do when a laptop wakes up
    for (let i = 0; i < 100 && asked === 0; i++) await new Promise((done) => setTimeout(done, 50));
    assert.ok(asked > 0 && asked < 10, `${asked} questions`);
    await state(page, 'live');
    assert.equal(await page.locator('main [role=alert]').count(), 0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    page.problems = page.problems.filter((text) => !text.includes('ERR_'));
  },

  async 'answers that are none, and their end'() {
    const page = await open('#/events');
    for (const answer of [{ status: 200, contentType: 'text/html', body: '<h1>hotel Wi-Fi</h1>' }, { status: 502, body: 'bad gateway' }, { status: 500, contentType: 'application/problem+json', body: '{"detail":"<b>broken</b>"}' }]) {
      await page.route('**/api/v1/events?*', (route) => route.fulfill(answer));
      await state(page, 'disconnected');
      assert.match(await page.textContent('header ~ .problem'), /Disconnected, retrying: (the answer is not that of a Waybill server|502|<b>broken<\/b>)/);
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await state(page, 'live');
    }
    assert.ok((await page.textContent('main')).includes('events, the latest first'), 'the old figures stay');
    page.problems = page.problems.filter((text) => !/50[02]/.test(text)); // what the browser says of the answers
  },
});
