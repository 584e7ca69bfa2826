// Time ranges: what the address says of them, the pieces that they are cut into, and the marks of an axis. Times are ms since 1970.
import {
  type CountableTimeInterval,
  type TimeInterval,
  timeDay,
  timeHour,
  timeMinute,
  timeMonday,
  timeMonth,
  timeSecond,
  utcDay,
  utcHour,
  utcMinute,
  utcMonday,
  utcMonth,
  utcSecond,
} from 'd3-time';
import { display } from './display.svelte';

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

type Intervals = Record<'s' | 'm' | 'h' | 'd' | 'monday' | 'month', CountableTimeInterval>;
const roundsOf = ({ s, m, h, d, monday, month }: Intervals): { ms: number; every: TimeInterval }[] => [
  ...[1, 2, 5, 10, 15, 30].map((n) => ({ ms: n * second, every: s.every(n)! })),
  ...[1, 2, 5, 10, 15, 30].map((n) => ({ ms: n * minute, every: m.every(n)! })),
  ...[1, 2, 3, 6, 12].map((n) => ({ ms: n * hour, every: h.every(n)! })),
  ...[1, 2].map((n) => ({ ms: n * day, every: d.every(n)! })),
  { ms: 7 * day, every: monday },
  { ms: 31 * day, every: month },
];
const localRounds = roundsOf({
  s: timeSecond,
  m: timeMinute,
  h: timeHour,
  d: timeDay,
  monday: timeMonday,
  month: timeMonth,
});
const utcRounds = roundsOf({ s: utcSecond, m: utcMinute, h: utcHour, d: utcDay, monday: utcMonday, month: utcMonth });

/** timeMarks returns up to most round times, in the zone that is shown. The first one of a day says the day. */
export function timeMarks(from: number, to: number, most: number): Mark[] {
  const rounds = display.utc ? utcRounds : localRounds;
  const { ms, every } = rounds.find((r) => (to - from) / r.ms <= Math.max(1, most)) ?? rounds.at(-1)!;
  let lastDay = sayDate(Date.now());
  return every.range(new Date(Math.ceil(from)), new Date(to + 1)).map((date) => {
    const at = date.getTime();
    const today = sayDate(at);
    const clock = ms < minute ? sayClock(at) : sayMinute(at);
    const text = ms >= day ? sayDay(at) : today === lastDay ? clock : `${sayDay(at)} ${clock}`;
    lastDay = today;
    return { at, text };
  });
}

/** writer writes times in the zone that is shown. To make a format takes longer than to use it. */
function writer(options: Intl.DateTimeFormatOptions): (ms: number) => string {
  const [local, utc] = [undefined, 'UTC'].map(
    (timeZone) => new Intl.DateTimeFormat(undefined, { ...options, timeZone }),
  );
  return (ms) => (display.utc ? utc! : local!).format(ms);
}

const numeric = 'numeric';
/** sayClock is a time of day, sayDay a day without its year, and sayDate one with it, in the zone that is shown. */
export const sayClock = writer({ hour: numeric, minute: numeric, second: numeric, hourCycle: 'h23' });
export const sayDay = writer({ month: 'short', day: numeric });
export const sayDate = writer({ year: numeric, month: numeric, day: numeric });
const sayMinute = writer({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

const withDay = (ms: number): string => `${sayDay(ms)} ${sayClock(ms)}`;

/** sayTime is a time in the zone that is shown, with the day if that is not today. */
export const sayTime = (ms: number): string => (sayDate(ms) === sayDate(Date.now()) ? sayClock(ms) : withDay(ms));

/** sayUTC is a time in UTC, for a hint. */
export const sayUTC = (ms: number): string => `${utc(ms)} UTC`;

const utc = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ');

/** sayTimes is a piece of time in the zone that is shown, with the day as sayTime, or both days if they differ. */
export const sayTimes = (from: number, to: number): string =>
  sayDate(from) === sayDate(to) ? `${sayTime(from)} – ${sayClock(to)}` : `${withDay(from)} – ${withDay(to)}`;

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

/** writeInput is a time as a field of type datetime-local has it, in the zone that is shown, and readInput reads it. */
export function writeInput(ms: number): string {
  const away = display.utc ? 0 : new Date(ms).getTimezoneOffset() * minute;
  return new Date(ms - away).toISOString().slice(0, 19);
}
export const readInput = (text: string): number => Date.parse(display.utc ? `${text}Z` : text);

/** zoneText names the zone that is shown. */
export const zoneText = (): string =>
  display.utc ? 'in UTC' : `in the time of this browser, ${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
