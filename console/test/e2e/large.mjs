// A network of 500 switches: it is drawn, and follows the pointer. With CONSOLE_MEASURE=1 it says how many frames a second there
// were meanwhile.
import assert from 'node:assert/strict';
import { ask, open, run, shoot } from './browser.mjs';

/** frames moves the pointer to and fro for ms milliseconds, and returns how long each frame lasted meanwhile. */
async function frames(page, ms) {
  const [x, y] = [640, 500];
  await page.evaluate(() => {
    window.frameTimes = [];
    let last = performance.now();
    const next = (now) => {
      window.frameTimes.push(now - last);
      last = now;
      window.frameTimer = requestAnimationFrame(next);
    };
    window.frameTimer = requestAnimationFrame(next);
  });
  await page.mouse.move(x, y);
  await page.mouse.down();
  const start = Date.now();
  for (let i = 0; Date.now() - start < ms; i++) {
    const turn = (Date.now() - start) / 400;
    await page.mouse.move(x + 300 * Math.sin(turn), y + 120 * Math.cos(turn * 0.7));
  }
  await page.mouse.up();
  return page.evaluate(() => { cancelAnimationFrame(window.frameTimer); return window.frameTimes.slice(2); });
}

/** measured says how smoothly a page moved, and how much time of its thread it took. */
async function measured(page) {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busy = async () => (await session.send('Performance.getMetrics')).metrics.find((m) => m.name === 'TaskDuration').value * 1000;
  const before = await busy();
  const times = await frames(page, 10_000);
  const spent = (await busy()) - before;
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.floor(share * (sorted.length - 1))].toFixed(1);
  const total = times.reduce((a, b) => a + b, 0);
  return `${((times.length * 1000) / total).toFixed(1)} frames a second; a frame took ${at(0.5)} ms (median), ${at(0.9)} (90 of 100), ${at(0.99)} (99 of 100), ${at(1)} at most, of these ${(spent / times.length).toFixed(2)} ms in the thread of the page`;
}

await run({
  async 'is drawn, and follows the pointer'() {
    const page = await open('#/topology');
    const { nodes, links } = await ask('topology');
    const canvas = page.locator('canvas');
    await page.waitForSelector('canvas[data-painted=true]');
    assert.equal(nodes.length, 500);
    assert.equal(await canvas.getAttribute('data-nodes'), '500');
    const pairs = new Set(links.map((l) => [l.from, l.to].sort((a, b) => a - b).join()));
    assert.equal(await canvas.getAttribute('data-links'), String(pairs.size));
    await shoot(page, 'light-topology-500');
    const before = await canvas.getAttribute('data-x');
    await frames(page, 1000);
    assert.notEqual(await canvas.getAttribute('data-x'), before);
    if (process.env.CONSOLE_MEASURE) {
      console.log(`     ${pairs.size} cables: ${await measured(page)}`);
      const other = await open('#/drops');
      console.log(`     a page without a picture: ${await measured(other)}`);
    }
    await page.bringToFront();
    await page.locator('.stage').focus();
    await page.keyboard.press('+');
    await page.waitForSelector('canvas[data-painted=true]');
  },
});
