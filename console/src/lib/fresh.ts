// What a queue was when a packet met it is no news for long.

const queueMs = 10_000;

/** stale says why a queue is not known now, of which a packet told last at the time lastTime; it returns nothing while it is known. */
export const stale = (lastTime: string, nowMs: number): string | undefined =>
  nowMs - Date.parse(lastTime) > queueMs ? `no packet told of it in the last ${queueMs / 1000} s: nobody knows how long it is now` : undefined;
