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

/** What a frame costs, by the names that the browser's trace gives to its parts. */
const parts = {
  script: ['FunctionCall', 'FireAnimationFrame'], style: ['UpdateLayoutTree'], layout: ['Layout'], paint: ['PrePaint', 'Paint', 'Layerize', 'LayerTreeHost::DoUpdateLayers'], commit: ['ProxyImpl::Commit', 'Commit'],
  draw: ['Display::DrawAndSwap'],
};

/** measured says how smoothly a page moved, and how much of its threads a frame took. */
async function measured(page) {
  const session = await page.context().newCDPSession(page);
  const trace = [];
  session.on('Tracing.dataCollected', ({ value }) => trace.push(...value));
  await session.send('Tracing.start', { transferMode: 'ReportEvents', traceConfig: { includedCategories: ['devtools.timeline', 'cc', 'viz', 'disabled-by-default-devtools.timeline'] } });
  const times = await frames(page, 10_000);
  const complete = new Promise((done) => { session.once('Tracing.tracingComplete', done); });
  await session.send('Tracing.end');
  await complete;
  const spent = Object.entries(parts).map(([part, names]) => {
    const cpu = trace.filter((e) => e.ph === 'X' && names.includes(e.name)).reduce((sum, e) => sum + (e.tdur ?? 0), 0) / 1000;
    return `${part} ${(cpu / times.length).toFixed(2)}`;
  });
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.floor(share * (sorted.length - 1))].toFixed(1);
  const total = times.reduce((a, b) => a + b, 0);
  return `${((times.length * 1000) / total).toFixed(1)} frames a second; a frame took ${at(0.5)} ms (median), ${at(0.9)} (90 of 100), ${at(0.99)} (99 of 100), ${at(1)} at most; ms of processor time a frame: ${spent.join(', ')}`;
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
    // Moving it draws nothing: at most an answer that was on its way, and then once.
    await page.evaluate(() => {
      window.strokes = 0;
      const { stroke } = CanvasRenderingContext2D.prototype;
      CanvasRenderingContext2D.prototype.stroke = function count(...args) { window.strokes++; return stroke.apply(this, args); };
    });
    const before = await canvas.getAttribute('data-x');
    await frames(page, 1000);
    assert.notEqual(await canvas.getAttribute('data-x'), before);
    const strokes = await page.evaluate(() => window.strokes);
    assert.ok(strokes <= 2 * (pairs.size + nodes.length), `${strokes} strokes while it was moved`);
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
