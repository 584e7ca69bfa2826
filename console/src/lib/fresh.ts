// What a packet told of the queue that it met, or of the use of the port that it left by, is no news for long.

const freshMs = 10_000;

/** stale says why what a packet told last at the time lastTime is not known now; it returns nothing while it is known. */
export const stale = (lastTime: string, nowMs: number): string | undefined =>
  nowMs - Date.parse(lastTime) > freshMs
    ? `no packet told of it in the last ${freshMs / 1000} s: nobody knows what it is now`
    : undefined;
