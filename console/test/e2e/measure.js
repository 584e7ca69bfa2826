// How smoothly a page moves, for tests with CONSOLE_MEASURE=1.

/** What a frame costs, by the names that the browser's trace gives to its parts. */
const parts = {
  script: ['FunctionCall', 'FireAnimationFrame', 'RunMicrotasks'],
  style: ['UpdateLayoutTree'],
  layout: ['Layout'],
  paint: ['PrePaint', 'Paint', 'Layerize', 'LayerTreeHost::DoUpdateLayers'],
  commit: ['ProxyImpl::Commit', 'Commit'],
  draw: ['Display::DrawAndSwap'],
};

/** measured does something with a page, and returns in words how long each frame lasted meanwhile, and how much of the page's threads it took. */
export async function measured(page, work) {
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
  const session = await page.context().newCDPSession(page);
  const trace = [];
  session.on('Tracing.dataCollected', ({ value }) => trace.push(...value));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['devtools.timeline', 'cc', 'viz', 'disabled-by-default-devtools.timeline'] },
  });
  await work();
  const times = await page.evaluate(() => {
    cancelAnimationFrame(window.frameTimer);
    return window.frameTimes.slice(2);
  });
  const complete = new Promise((done) => {
    session.once('Tracing.tracingComplete', done);
  });
  await session.send('Tracing.end');
  await complete;
  const spent = Object.entries(parts).map(([part, names]) => {
    const cpu =
      outer(trace.filter((e) => e.ph === 'X' && names.includes(e.name))).reduce((sum, e) => sum + (e.tdur ?? 0), 0) /
      1000;
    return `${part} ${(cpu / times.length).toFixed(2)}`;
  });
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.floor(share * (sorted.length - 1))].toFixed(1);
  const total = times.reduce((a, b) => a + b, 0);
  return `${((times.length * 1000) / total).toFixed(1)} frames a second; a frame took ${at(0.5)} ms (median), ${at(0.9)} (90 of 100), ${at(0.99)} (99 of 100), ${at(1)} at most; ms of processor time a frame: ${spent.join(', ')}`;
}

/** outer leaves out what is within another one of the same thread. */
function outer(events) {
  const end = new Map();
  return events
    .toSorted((a, b) => a.ts - b.ts || (b.dur ?? 0) - (a.dur ?? 0))
    .filter((e) => {
      if (e.ts < (end.get(e.tid) ?? 0)) return false;
      end.set(e.tid, e.ts + (e.dur ?? 0));
      return true;
    });
}
