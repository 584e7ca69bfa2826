// A network of 500 switches: it is drawn, and follows the pointer. With CONSOLE_MEASURE=1 it says how many frames a second there
// were meanwhile.
import assert from 'node:assert/strict';
import { ask, connect, finish, eventually, open, shoot, test } from './browser.js';
import { measured } from './measure.js';

/** moved drags the picture to and fro in so many steps, as long as they take. */
async function moved(page, steps) {
  const [x, y] = [640, 500];
  await page.mouse.move(x, y);
  await page.mouse.down();
  for (let i = 1; i <= steps; i++) {
    const turn = i / 25;
    await page.mouse.move(x + 300 * Math.sin(turn), y + 120 * Math.cos(turn * 0.7));
  }
  await page.mouse.up();
}

test.beforeAll(connect);
test.afterAll(finish);

test('is drawn, and follows the pointer', async () => {
  const page = await open('#/topology');
  const { nodes, links } = await ask('topology');
  const canvas = page.locator('canvas');
  await page.waitForSelector('canvas[data-painted=true]');
  assert.equal(nodes.length, 500);
  assert.equal(await canvas.getAttribute('data-nodes'), '500');
  const pairs = new Set(links.map((l) => [l.from, l.to].sort((a, b) => a - b).join()));
  assert.equal(await canvas.getAttribute('data-links'), String(pairs.size));
  await shoot(page, 'light-topology-500');
  // Moving it draws nothing: at most an answer that was on its way, and then once.
  await page.evaluate(() => {
    window.strokes = 0;
    const { stroke } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.stroke = function count(...args) {
      window.strokes++;
      return stroke.apply(this, args);
    };
  });
  const before = await canvas.getAttribute('data-x');
  await moved(page, 40);
  await eventually(async () => assert.notEqual(await canvas.getAttribute('data-x'), before));
  const strokes = await page.evaluate(() => window.strokes);
  assert.ok(strokes <= 2 * (pairs.size + nodes.length), `${strokes} strokes while it was moved`);
  if (process.env.CONSOLE_MEASURE) {
    console.log(`     ${pairs.size} cables: ${await measured(page, () => moved(page, 600))}`);
    const other = await open('#/drops');
    console.log(`     a page without a picture: ${await measured(other, () => moved(other, 600))}`);
  }
  await page.bringToFront();
  await page.locator('.stage').focus();
  await page.keyboard.press('+');
  await page.waitForSelector('canvas[data-painted=true]');
});
