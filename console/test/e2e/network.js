// What the emulated network knows, in the words of the pages: for tests that compare these with it.
import { truth } from './browser.js';

/** wall is when something was, ms since 1970, of nanoseconds since the network began. */
export const wall = (ns) => (truth.run[0].epoch_ns + ns) / 1e6;

export const nameOf = (node) => truth.switch.find((s) => s.node === node).name;

/** dropsOf counts the packets that switches dropped and know of, in a time, by what a key says of each. */
export function dropsOf(key, from = 0, to = Infinity) {
  const sums = {};
  for (const drop of truth.drop)
    if (drop.seen && wall(drop.t_ns) >= from && wall(drop.t_ns) < to) sums[key(drop)] = (sums[key(drop)] ?? 0) + 1;
  return sums;
}

/** worst is the longest of the long queues, and fillers are the fewest flows that brought 80 % of what was in it. */
export const worst = () => truth.burst.toSorted((a, b) => b.peak - a.peak)[0];
export function fillers({ flows, bytes }) {
  let rest = 0.8 * bytes;
  const needed = flows.findIndex((flow) => (rest -= flow.bytes) <= 0) + 1;
  return flows.slice(0, needed).map(({ flow }) => flowOf(flow));
}

/** flowOf is a flow by its number, that in its tunnel if it is in one. */
export function flowOf(number) {
  const flow = truth.flow.find((f) => f.flow === number);
  return flow.inner ? { ...flow, ...flow.inner } : flow;
}

const side = (address, port) => (address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`);
/** titleOf is what pages call a flow. */
export const titleOf = ({ src, dst, src_port: sport, dst_port: dport, protocol, inner }) =>
  `${side(src, sport)} → ${side(dst, dport)} ${{ 6: 'tcp', 17: 'udp' }[protocol]}${inner ? ` in ${inner.tunnel} ${inner.vni}` : ''}`;

/** si writes a number with three significant digits, as the pages do. */
export function si(value, unit = '', space = ' ') {
  const [scale, letter] = [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e3, 'k'],
    [1, ''],
  ].find(([s]) => value >= s * 0.9995) ?? [1, ''];
  return `${Number((value / scale).toPrecision(3))}${letter || unit ? space : ''}${letter}${unit}`;
}
