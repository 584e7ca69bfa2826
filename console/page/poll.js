// poll calls load(signal) every intervalMs while the page is visible, one call at a time, and passes what it returns to
// show, or what it throws to fail. A call that takes longer than timeoutMs counts as failed. Failures change nothing in
// the rhythm, so the page recovers by itself. The function returned starts a round at once.
export function poll({ load, show, fail, intervalMs = 1000, timeoutMs = 5000 }) {
  let timer;
  let current = null;

  function stop() {
    clearTimeout(timer);
    current?.abort();
    current = null;
  }

  async function round() {
    stop();
    const mine = (current = new AbortController());
    const started = performance.now();
    const deadline = setTimeout(() => mine.abort(new Error(`no answer within ${timeoutMs / 1000} s`)), timeoutMs);
    let done;
    try {
      const answer = await load(mine.signal);
      done = () => show(answer);
    } catch (error) {
      done = () => fail(error);
    }
    clearTimeout(deadline);
    if (mine !== current) return; // stopped, or another round took over
    current = null;
    timer = setTimeout(round, Math.max(0, intervalMs - (performance.now() - started)));
    done();
  }

  document.addEventListener('visibilitychange', () => (document.hidden ? stop() : round()));
  if (!document.hidden) round();
  return round;
}
