// Numbers, times and names as people read them. What is not known is null or undefined and reads "–", never 0.

export const unknown = '–';

const latencyUnits = [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']];

// latency writes nanoseconds with three significant digits: 850 ns, 12.4 µs, 1.24 ms.
export function latency(ns) {
  if (ns == null) return unknown;
  // 999.9 µs would round to 1000 µs: the next unit starts where three digits round up to it.
  const [size, unit] = latencyUnits.find(([s]) => ns >= s * 0.9995) ?? [1, 'ns'];
  return `${significant(ns / size)} ${unit}`;
}

function significant(value) {
  if (value >= 99.95) return value.toFixed(0);
  if (value >= 9.995) return trimmed(value.toFixed(1));
  return trimmed(value.toFixed(2));
}

const trimmed = (text) => text.replace(/\.?0+$/, '');

// quantile returns p50 or p99 of a distribution, or null where only its minimum, mean and maximum were kept: an estimate
// always comes with its error.
export function quantile(distribution, name) {
  return distribution?.relative_error > 0 ? distribution[name] : null;
}

// typical returns the median, or the mean where no median was kept.
export function typical(distribution) {
  return quantile(distribution, 'p50') ?? distribution?.mean ?? null;
}

// spread describes a distribution of latencies in one line.
export function spread(distribution) {
  if (!distribution) return 'not measured';
  const { min, mean, max, count } = distribution;
  const parts = [`min ${latency(min)}`, `mean ${latency(mean)}`, `max ${latency(max)}`];
  for (const name of ['p50', 'p99']) {
    const value = quantile(distribution, name);
    if (value !== null) parts.push(`${name} ${latency(value)}`);
  }
  return `${parts.join(', ')} of ${counted(count, 'sample')}`;
}

// number writes a number in full, 12,345, with one decimal if it is not whole.
export function number(n) {
  return n == null ? unknown : n.toLocaleString('en', { maximumFractionDigits: 1 });
}

// counted writes a count with its noun: 1 flow, 2 flows.
export function counted(n, noun) {
  return `${number(n)} ${noun}${n === 1 ? '' : 's'}`;
}

// compact writes a count in little space: 999, 1.23k, 45.6M.
export function compact(n) {
  if (n == null) return unknown;
  for (const [size, unit] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
    if (n >= size * 0.9995) return significant(n / size) + unit;
  }
  return String(n);
}

// percent writes a share of 1. It is cut, not rounded: 100 % is said only of all.
export function percent(share) {
  if (share == null) return unknown;
  return `${Math.floor(share * 1e4) / 100} %`;
}

// age writes how long before now something was; now is null as long as the server's clock is not known. Both are
// milliseconds since 1970.
export function age(then, now) {
  if (now == null || Number.isNaN(then)) return unknown;
  const seconds = Math.floor((now - then) / 1000);
  if (seconds < 3) return 'now'; // also ahead of the server's clock, which is told in whole seconds
  if (seconds < 120) return `${seconds} s ago`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h ago`;
  return `${Math.floor(seconds / 86400)} days ago`;
}

// clock and date write a time in UTC.
export const clock = (ms) => (ms == null ? unknown : `${new Date(ms).toISOString().slice(11, 19)} UTC`);
export const date = (ms) => (ms == null ? unknown : new Date(ms).toISOString().slice(0, 10));

// nodeName is the configured name of a node, or its id; null is a node that is known to be but not which one.
export function nodeName(id, name) {
  if (name) return name;
  return id == null ? 'unknown' : `node ${id}`;
}

// address joins an address and a port as in a URL.
export function address(ip, port) {
  if (port == null) return ip;
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

// endpoint is one side of a flow. Protocols without ports, and later fragments, have 0 on both sides.
export function endpoint(flow, side) {
  const portless = flow.src_port === 0 && flow.dst_port === 0;
  return address(flow[side], portless ? null : flow[`${side}_port`]);
}

// addressKey makes addresses sort by number: 10.0.0.9 before 10.0.0.10, IPv4 before IPv6.
export function addressKey(ip, port = 0) {
  const tail = String(port).padStart(5, '0');
  if (!ip.includes(':')) return `4${ip.split('.').map((octet) => octet.padStart(3, '0')).join('')}${tail}`;
  const [head, rest] = ip.split('::').map((half) => (half ? half.split(':') : []));
  const zeros = rest ? Array(Math.max(0, 8 - head.length - rest.length)).fill('0') : [];
  return `6${[...head, ...zeros, ...(rest ?? [])].map((group) => group.padStart(4, '0')).join('')}${tail}`;
}
