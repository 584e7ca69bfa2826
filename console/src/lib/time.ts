// Time ranges: what the address says of them, the pieces that they are cut into, and the marks of an axis. Times are ms since 1970.
import { timeDay, timeHour, timeMinute, timeMonday, timeMonth, timeSecond } from 'd3-time';

/** A Span is what a page is about: now, the last so many ms, or from one time to another. */
export type Span = { kind: 'now' } | { kind: 'last'; ms: number } | { kind: 'fixed'; from: number; to: number };

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** The lengths that the menu offers. */
export const lengths: { ms: number; title: string }[] = [
  { ms: 5 * minute, title: '5 m' },
  { ms: 15 * minute, title: '15 m' },
  { ms: hour, title: '1 h' },
  { ms: 6 * hour, title: '6 h' },
  { ms: day, title: '24 h' },
  { ms: 7 * day, title: '7 d' },
  { ms: 30 * day, title: '30 d' },
];

/** parseSpan reads since and until of an address: a length such as 15m with nothing else, or two times. What it cannot read is now. */
export function parseSpan(since: string, until: string): Span {
  const ms = parseLength(since);
  if (ms !== null && (until === '' || until === 'now')) return { kind: 'last', ms };
  const [from, to] = [Date.parse(since), Date.parse(until)];
  return from < to ? { kind: 'fixed', from, to } : { kind: 'now' };
}

/** settle reads what depends on when it is read, as the API takes it: a time without an end, a length of which the end is one too. null: neither. */
export function settle(since: string, until: string, now: number): Span | null {
  const at = (text: string): number => {
    const ms = parseLength(text);
    return ms === null ? Date.parse(text) : now - ms;
  };
  const [from, to] = [at(since), until === '' || until === 'now' ? now : at(until)];
  return from < to ? { kind: 'fixed', from, to } : null;
}

/** parseLength reads 90s, 15m, 1h30m or 7d; null for anything else. */
export function parseLength(text: string): number | null {
  if (!/^(\d+(\.\d+)?[smhd])+$/.test(text)) return null;
  const units: Record<string, number> = { s: second, m: minute, h: hour, d: day };
  const ms = [...text.matchAll(/([\d.]+)([smhd])/g)].reduce((sum, [, n, unit]) => sum + Number(n) * units[unit!]!, 0);
  return ms >= second ? ms : null;
}

/** writeLength is a length as the API takes it: whole seconds, minutes or hours. */
export function writeLength(ms: number): string {
  if (ms % hour === 0) return `${ms / hour}h`;
  if (ms % minute === 0) return `${ms / minute}m`;
  return `${Math.max(1, Math.round(ms / second))}s`;
}

/** sayLength is a length in words: 15 min, 1.5 h, 7 days. */
export function sayLength(ms: number): string {
  const of = (unit: number, name: string): string => `${Math.round((ms / unit) * 10) / 10} ${name}`;
  if (ms < 2 * minute) return of(second, 's');
  if (ms < 2 * hour) return of(minute, 'min');
  return ms < 2 * day ? of(hour, 'h') : of(day, 'days');
}

/** spanParams are since and until as the address and the API have them; {} for now. */
export function spanParams(span: Span): { since?: string; until?: string } {
  if (span.kind === 'now') return {};
  if (span.kind === 'last') return { since: writeLength(span.ms) };
  return { since: new Date(span.from).toISOString(), until: new Date(span.to).toISOString() };
}

/** The lengths of pieces, which the intervals of the store can be put together to. */
const steps = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400].map(
  (s) => s * second,
);

/** stepOf is the length of pieces, of at least least ms, so that a range has at most most of them. */
export function stepOf(ms: number, most: number, least: number): number {
  return steps.find((step) => step >= least && ms / step <= most) ?? Math.ceil(ms / most / day) * day;
}

/** everyMs is how often an answer about a range is asked for again, one of the store at most every leastMs; 0: never, it does not change. */
export function everyMs(span: Span, leastMs = 2000): number {
  if (span.kind === 'fixed') return 0;
  return span.kind === 'now' ? 2000 : Math.min(60_000, Math.max(leastMs, span.ms / 300));
}

/** A Mark is a time that an axis names. */
export interface Mark {
  at: number;
  text: string;
}

const rounds = [
  ...[1, 2, 5, 10, 15, 30].map((n) => ({ ms: n * second, every: timeSecond.every(n)! })),
  ...[1, 2, 5, 10, 15, 30].map((n) => ({ ms: n * minute, every: timeMinute.every(n)! })),
  ...[1, 2, 3, 6, 12].map((n) => ({ ms: n * hour, every: timeHour.every(n)! })),
  ...[1, 2].map((n) => ({ ms: n * day, every: timeDay.every(n)! })),
  { ms: 7 * day, every: timeMonday },
  { ms: 31 * day, every: timeMonth },
];

/** timeMarks returns up to most round times, in the zone of the browser. The first one of a day says the day. */
export function timeMarks(from: number, to: number, most: number): Mark[] {
  const { ms, every } = rounds.find((r) => (to - from) / r.ms <= Math.max(1, most)) ?? rounds.at(-1)!;
  let lastDay = dayOf(Date.now());
  return every.range(new Date(Math.ceil(from)), new Date(to + 1)).map((date) => {
    const today = date.toDateString();
    const clock = date.toLocaleTimeString(undefined, {
      hour: '2-digit',
      minute: '2-digit',
      second: ms < minute ? '2-digit' : undefined,
      hourCycle: 'h23',
    });
    const dayText = date.toLocaleDateString(undefined, { month: 'short', day: 'numeric' });
    const text = ms >= day ? dayText : today === lastDay ? clock : `${dayText} ${clock}`;
    lastDay = today;
    return { at: date.getTime(), text };
  });
}

const sayClock = (ms: number): string => new Date(ms).toLocaleTimeString(undefined, { hourCycle: 'h23' });
const dayOf = (ms: number): string => new Date(ms).toDateString();

const withDay = (ms: number): string =>
  `${new Date(ms).toLocaleDateString(undefined, { month: 'short', day: 'numeric' })} ${sayClock(ms)}`;

/** sayTime is a time in the zone of the browser, with the day if that is not today. */
export const sayTime = (ms: number): string => (dayOf(ms) === dayOf(Date.now()) ? sayClock(ms) : withDay(ms));

/** sayUTC is a time in UTC, for a hint. */
export const sayUTC = (ms: number): string => `${utc(ms)} UTC`;

const utc = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

/** sayTimes is a piece of time in the zone of the browser, with the day as sayTime, or both days if they differ. */
export const sayTimes = (from: number, to: number): string =>
  dayOf(from) === dayOf(to) ? `${sayTime(from)} – ${sayClock(to)}` : `${withDay(from)} – ${withDay(to)}`;

/** sayTimesUTC is a piece of time in UTC, for a hint. */
export function sayTimesUTC(from: number, to: number): string {
  const [a, b] = [utc(from), utc(to)];
  return `${a} – ${a.slice(0, 10) === b.slice(0, 10) ? b.slice(11) : b} UTC`;
}

/** untilOf returns the time so many minutes after the server's time. */
export const untilOf = (nowMs: number, minutes: number): string => new Date(nowMs + minutes * minute).toISOString();

/** after is ns after a time of the API, which has up to nine digits of a second: what a Date cannot tell. */
export function after(time: string, ns: number): string {
  const [, second = '', fraction = ''] = /^([^.]*)(?:\.(\d+))?Z$/.exec(time) ?? [];
  const all = BigInt(Date.parse(`${second}Z`)) * 1_000_000n + BigInt(fraction.padEnd(9, '0')) + BigInt(Math.round(ns));
  return `${new Date(Number(all / 1_000_000_000n) * 1000).toISOString().slice(0, 19)}.${String(all % 1_000_000_000n).padStart(9, '0')}Z`;
}

/** localInput is a time as a field of type datetime-local has it. */
export function localInput(ms: number): string {
  const date = new Date(ms - new Date(ms).getTimezoneOffset() * minute);
  return date.toISOString().slice(0, 19);
}
