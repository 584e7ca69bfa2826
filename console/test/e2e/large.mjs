// A network of 500 switches: it is drawn, and follows the pointer. With CONSOLE_MEASURE=1 it says how many frames a second there
// were meanwhile.
import assert from 'node:assert/strict';
import { ask, open, run, shoot } from './browser.mjs';

/** frames moves the pointer to and fro for ms milliseconds, and returns how long each frame lasted meanwhile. */
async function frames(page, ms) {
  const box = await page.locator('.stage').boundingBox();
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
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
    const times = await frames(page, process.env.CONSOLE_MEASURE ? 10_000 : 1000);
    assert.notEqual(await canvas.getAttribute('data-x'), before);
    if (process.env.CONSOLE_MEASURE) {
      const sorted = times.toSorted((a, b) => a - b);
      const at = (share) => sorted[Math.floor(share * (sorted.length - 1))].toFixed(1);
      const total = times.reduce((a, b) => a + b, 0);
      console.log(`     ${pairs.size} cables, panning for ${(total / 1000).toFixed(1)} s: ${((times.length * 1000) / total).toFixed(1)} frames a second; a frame took ${at(0.5)} ms (median), ${at(0.99)} ms (99 of 100), ${at(1)} ms at most; ${times.filter((t) => t > 25).length} were late`);
    }
    await page.keyboard.press('+');
    await page.waitForSelector('canvas[data-painted=true]');
  },
});
