/** A Life is the time of a flow that charts are about as long as no range was chosen: parameters of the API, and how long it is in ms. */
export interface Life {
  params: { since: string; until?: string };
  ms: number;
}

const hour = 3600e3;
export const lastHour: Life = { params: { since: '1h' }, ms: hour };
const whole = 10_000; // ms, as records: so the answer to a question about a flow that goes on stays the same one

/** lifeOf is when there were packets of a flow, and a fifth of that before and after, at least 5 s; of the last hour. All times are ms since 1970. */
export function lifeOf(first: number, last: number, now: number): { from: number; to: number } {
  const room = Math.max(5000, (last - first) / 5);
  return {
    from: Math.max(Math.floor((first - room) / whole) * whole, now - hour),
    to: Math.min(Math.ceil((last + room) / whole) * whole, now),
  };
}

/** askLife asks for the life of a flow. */
export function askLife(first: number, last: number, now: number): Life {
  const { from, to } = lifeOf(first, last, now);
  const time = (ms: number): string => new Date(ms).toISOString();
  if (to <= now - hour) return lastHour; // all of it is older
  const since = from > now - hour ? time(from) : '1h';
  return { params: to < now ? { since, until: time(to) } : { since }, ms: to - from };
}
