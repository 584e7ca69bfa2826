// Numbers, times and names as people read them. What is not known is null or undefined and reads "–", never 0.
import type { Distribution, Endpoints, LinkLoss } from '../api/types';
import { sayLength } from './time';

export const unknown = '–';
type Maybe = number | null | undefined;

const timeUnits: [number, string][] = [
  [1e9, 's'],
  [1e6, 'ms'],
  [1e3, 'µs'],
  [1, 'ns'],
];
const byteUnits: [number, string][] = [
  [1e12, 'TB'],
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'kB'],
  [1, 'B'],
];
const countUnits: [number, string][] = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
  [1, ''],
];

/** duration writes nanoseconds with three significant digits: 850 ns, 12.4 µs, 1.24 ms. */
export const duration = (ns: Maybe): string => withUnit(ns, timeUnits, ' ');

/** bytes writes a size with three significant digits, in decimal units. */
export const bytes = (n: Maybe): string => withUnit(n, byteUnits, ' ');

/** depth writes how long a queue is, with its unit. said: what stands above it says that its unit is not known. */
export function depth(n: Maybe, unit: string | undefined, said = false): string {
  if (n == null) return unknown;
  if (unit === 'bytes') return bytes(n);
  const [name, cell] = (unit || 'unknown').split(':');
  if (name === 'unknown') return said ? number(n) : `${number(n)} (unit unknown)`;
  return `${number(n)} ${cell ? `cells of ${cell} B` : name}`;
}

/** unitUnknown is what stands above depths of an unknown unit. */
export const unitUnknown = 'in bytes, cells or packets: the unit is not known';

/** depthUnit says what queues are counted in, if all of them count alike. */
export function depthUnit(units: (string | undefined)[]): string {
  const [first = 'unknown', ...others] = [...new Set(units.map((unit) => unit ?? 'unknown'))];
  if (others.length > 0) return 'in the unit of each node';
  if (first === 'unknown') return unitUnknown;
  const [what, size] = first.split(':');
  return `in ${what}${size ? ` of ${size} B` : ''}`;
}

/** bits writes a rate in bits a second: 15.6 Mbit/s. */
export const bits = (n: Maybe): string => (n == null ? unknown : `${bytes(n).replace(/B$/, 'bit')}/s`);

/** speed writes what a port carries at most: 25G. */
export const speed = (bps: Maybe): string => withUnit(bps, countUnits, '');

/** compact writes a count in little space: 999, 1.23k, 45.6M. */
export const compact = (n: Maybe): string => withUnit(n, countUnits, '');

function withUnit(value: Maybe, units: [number, string][], space: string): string {
  if (value == null) return unknown;
  const size = Math.abs(value);
  // 999.9 µs would round to 1000 µs: the next unit starts where three digits round up to it.
  const [scale, unit] = units.find(([s]) => size >= s * 0.9995) ?? units.at(-1)!;
  return `${value < 0 ? '−' : ''}${significant(size / scale)}${unit ? space + unit : ''}`;
}

function significant(value: number): string {
  if (value >= 99.95) return value.toFixed(0);
  return trimmed(value.toFixed(value >= 9.995 ? 1 : 2));
}

const trimmed = (text: string): string => text.replace(/\.?0+$/, '');

/** quantile returns p50 or p99 of a distribution, or null where they are not kept. */
export function quantile(d: Distribution | undefined | null, name: 'p50' | 'p99'): number | null {
  return d && d.relative_error > 0 ? d[name] : null;
}

/** typical returns the median, or the mean where the median is not kept or can be off by more than a fifth. */
export function typical(d: Distribution | undefined | null): number | null {
  if (!d) return null;
  return d.relative_error > 0 && d.relative_error <= 0.2 ? d.p50 : d.mean;
}

const full = new Intl.NumberFormat('en', { maximumFractionDigits: 1 }); // to make one takes longer than all else of a row of a table

/** number writes a number in full, 12,345, with one decimal if it is not whole. */
export const number = (n: Maybe): string => (n == null ? unknown : full.format(n));

/** counted writes a count with its noun: 1 flow, 2 flows. */
export const counted = (n: number, noun: string, nouns = `${noun}s`): string =>
  `${number(n)} ${n === 1 ? noun : nouns}`;

/** percent writes a share of 1. It is cut, not rounded: 100 % is said only of all. */
export const percent = (share: Maybe): string => (share == null ? unknown : `${Math.floor(share * 1e4) / 100} %`);

/** lossText writes the share that a link loses, and between which it is. */
export const lossText = (loss: LinkLoss | undefined): string =>
  loss?.share == null
    ? unknown
    : `${percent(loss.share)}${loss.lower == null || loss.upper == null ? '' : ` (${percent(loss.lower)} to ${percent(loss.upper)})`}`;

/** lossHint says how the loss of a link is known, or why not. */
export const lossHint = (loss: LinkLoss | undefined): string =>
  loss?.share == null
    ? (loss?.unknown ?? 'no packet tells of it')
    : `${number(loss.lost)} of ${number(loss.sent)} packets in the last minute, by ${loss.method}; in brackets: ${percent(loss.confidence)} interval`;

/** age writes how long before now a time was; now is null as long as the server's clock is not known. */
export function age(time: string, now: number | null): string {
  const then = Date.parse(time);
  if (now === null || Number.isNaN(then)) return unknown;
  const seconds = Math.floor((now - then) / 1000);
  if (seconds < 3) return 'now';
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} days ago`;
}

/** lasted writes how long an event lasted, up to two minutes to the millisecond. */
export function lasted(start: string, end: string): string {
  const ms = Date.parse(end) - Date.parse(start);
  if (ms >= 120_000) return sayLength(ms);
  return ms > 0 ? duration(ms * 1e6) : 'a moment';
}

/** words turns an identifier of the API into words: drop_storm, drop storm. */
export const words = (name: string): string => name.replaceAll('_', ' ');

/** capital is a text with a capital letter in front. */
export const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** eventText is the text of an event with its kind before it, unless it begins with that. */
export const eventText = ({ kind, text }: { kind: string; text: string }): string =>
  text.startsWith(words(kind)) ? text : `${words(kind)}: ${text}`;

/** nodeName is the configured name of a node, or its id. */
export function nodeName(id: number | null | undefined, name?: string): string {
  if (name) return name;
  return id == null ? 'unknown' : `node ${id}`;
}

/** endpoint is one side of a flow; hostName names addresses. Protocols without ports, and later fragments, have 0 on both sides. */
export function endpoint(flow: Endpoints, side: 'src' | 'dst', hostName?: (address: string) => string): string {
  const name = hostName?.(flow[side]) || flow[side];
  if (flow.src_port === 0 && flow.dst_port === 0) return name;
  const ip = name === flow[side] && name.includes(':') ? `[${name}]` : name;
  return `${ip}:${side === 'src' ? flow.src_port : flow.dst_port}`;
}

/** flowName writes a flow as one line; hostName names its addresses. */
export function flowName(flow: Endpoints | null | undefined, hostName?: (address: string) => string): string {
  if (!flow) return 'flow unknown';
  const tunnel = flow.tunnel ? ` in ${flow.tunnel} ${flow.tunnel_id ?? ''}`.trimEnd() : '';
  return `${endpoint(flow, 'src', hostName)} → ${endpoint(flow, 'dst', hostName)} ${flow.protocol}${tunnel}`;
}

/** flowParams are the parameters of the page of a flow, which the API finds by its endpoints. */
export const flowParams = (flow: Endpoints): Record<string, string | number> => ({
  src: flow.src,
  dst: flow.dst,
  sport: flow.src_port,
  dport: flow.dst_port,
  protocol: flow.protocol,
});

/** addressKey makes addresses sort by number: 10.0.0.9 before 10.0.0.10, IPv4 before IPv6. */
export function addressKey(ip: string, port = 0): string {
  const tail = String(port).padStart(5, '0');
  if (!ip.includes(':'))
    return `4${ip
      .split('.')
      .map((octet) => octet.padStart(3, '0'))
      .join('')}${tail}`;
  const [head = [], rest] = ip.split('::').map((half) => (half ? half.split(':') : []));
  const zeros: string[] = rest ? Array(Math.max(0, 8 - head.length - rest.length)).fill('0') : [];
  return `6${[...head, ...zeros, ...(rest ?? [])].map((group) => group.padStart(4, '0')).join('')}${tail}`;
}
