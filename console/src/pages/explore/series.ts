import { inventory } from '../../api/inventory.svelte';
import type { LegendEntry } from '../../components/Panel.svelte';
import { bytes, compact, duration, nodeName, number, words } from '../../lib/format';
import { additive, type Found, type Question, type Row } from './question';

/** A Series is a measure of one group over time; null where nothing is known. others: of all groups that are no series. */
export interface Series {
  key: string;
  label: string;
  values: (number | null)[];
  /** of the period that the range is compared with */ before?: (number | null)[];
  others?: boolean;
}

export interface Picture {
  starts: number[];
  /** whether a piece has any record that was asked for, of whatever group */ known: boolean[];
  stepMs: number;
  series: Series[];
  /** pieces at the ends that the time range cuts */ cut: number;
}

/** titled are the series as lines of a table. */
export const titled = (picture: Picture): { title: string; values: (number | null)[]; before?: (number | null)[] }[] =>
  picture.series.map((s) => ({ title: s.label, values: s.values, before: s.before }));

/** keyOf says which group a record is of. Names do not: all hosts of a prefix may have the same. */
export const keyOf = (q: Question, row: Row): string => JSON.stringify(q.by.map((name) => row[name] ?? null));

/** labelOf names a group by its fields. */
export const labelOf = (q: Question, row: Row): string =>
  q.by.map((name) => fieldText(name, row)).join(' ') || `all ${q.of}`;

/** cellText writes a field of a record below its title; nodes have names. */
export function cellText(name: string, row: Row): string {
  const value = row[name];
  if (['node', 'from', 'to'].includes(name))
    return nodeName(value as number | null, row[name === 'node' ? 'name' : `${name}_name`] as string | undefined);
  if (value == null) return '–';
  const of = portOf[name];
  if (of) return inventory.portName(row[of] as number | undefined, value as number);
  if (name === 'src' || name === 'dst') return inventory.hostName(String(value)) || String(value);
  if (name === 'reason_name' || name === 'loss_known') return words(String(value));
  return String(value);
}

/** the fields in which the node of a port is */
const portOf: Record<string, string> = { ingress_port: 'node', egress_port: 'node', from_port: 'from', to_port: 'to' };
const bareWords: Record<string, string> = { ingress_port: 'in', egress_port: 'out' }; // as places are written elsewhere

/** fieldText writes a field of a record where nothing says which it is; plain: without names of the inventory, which several values may have. */
export function fieldText(name: string, row: Row, plain = false): string {
  const bare = name.endsWith('port') || ['queue', 'reason', 'dscp', 'tunnel_id', 'hw_id'].includes(name);
  const known = row[name] != null && (name in portOf || name === 'src' || name === 'dst');
  const text = plain && known ? String(row[name]) : cellText(name, row);
  return bare ? `${bareWords[name] ?? words(name)} ${text}` : text;
}

/** valueText writes a measure with its unit. */
export function valueText(measure: string, value: number | null | undefined, short = false): string {
  if (measure.endsWith('_ns')) return duration(value);
  if (measure === 'bytes') return bytes(value);
  return short ? compact(value) : number(value);
}

/** noteOf is what one has to know of a measure beside its unit. */
export const noteOf = (measure: string): string =>
  measure.startsWith('end_to_end')
    ? 'of the packets of which it is known, where clocks agree: these can be fewer than those of the residence'
    : '';

/** titleOf is a measure in words, without its unit, which values carry. */
export const titleOf = (measure: string): string => words(measure.replace(/_ns$/, ''));

/** statistic says that a measure is of the packets that were reported, and not a count of them. */
export const statistic = (measure: string): boolean =>
  /^(latency|residence|delay|end_to_end|occupancy|utilization)_/.test(measure) && !measure.endsWith('_samples');

/** unitOf says what values of a measure that carry no unit are of; empty: they count something. */
export function unitOf(measure: string): string {
  if (measure.startsWith('occupancy_')) return 'in bytes, cells or packets, as the node reports it';
  return /^utilization_(mean|max)$/.test(measure)
    ? 'as the node reports it: hundredths of a percent unless it is set otherwise'
    : '';
}

export const measured = (q: Question, row: Row): number | null => (row[q.measure] as number | null | undefined) ?? null;

/**
 * picture makes a series of each of the first groups, and one of the rest where that is a sum. Pieces of the time range that begin
 * before it or are not over are left out: their counts would look like a dip. A piece without any record is not 0 but a gap: no
 * collector may have been running.
 */
export function picture(q: Question, found: Found, stepMs: number): Picture {
  const now = pictureOf(q, found, stepMs);
  if (!found.before) return now;
  const { shiftMs, ...rest } = found.before;
  const then = pictureOf(q, { ...found, ...rest }, stepMs);
  // The period may begin at another place of a piece: its pieces stand at those that begin in them.
  const place = (at: number): number => Math.round((at - shiftMs - then.starts[0]!) / stepMs);
  const values = (key: string): (number | null)[] => {
    const old = then.series.find((s) => s.key === key);
    return now.starts.map((at) => old?.values[place(at)] ?? null);
  };
  const all = then.series.filter((s) => s.others && now.series.every((other) => other.key !== s.key));
  return {
    ...now,
    series: [...now.series, ...all.map((s) => ({ ...s, values: now.starts.map(() => null) }))].map((s) => ({
      ...s,
      before: values(s.key),
    })),
  };
}

function pictureOf(q: Question, found: Found, stepMs: number): Picture {
  const [since, until] = [Date.parse(found.frame.since), Date.parse(found.frame.until)];
  const all: number[] = [];
  for (let at = Math.floor(since / stepMs) * stepMs; at < until; at += stepMs) all.push(at);
  const whole = all.filter((at) => at >= since && at + stepMs <= until);
  const starts = whole.length > 1 ? whole : all;
  const place = new Map(starts.map((at, i) => [at, i]));
  const sums = additive(q);
  const recorded = new Set([...found.rows, ...found.others].map((row) => Date.parse(String(row.start))));
  const empty = (): (number | null)[] => starts.map((at) => (sums && recorded.has(at) ? 0 : null));
  const series: Series[] = found.totals
    .slice(0, q.top)
    .map((row) => ({ key: keyOf(q, row), label: labelOf(q, row), values: empty() }));
  const byKey = new Map(series.map((s) => [s.key, s]));
  const others: Series = { key: 'others', label: 'all others', values: empty(), others: true };
  const draw = (row: Row, to: Series): void => {
    const i = place.get(Date.parse(String(row.start)));
    const value = measured(q, row);
    if (i !== undefined && value !== null) to.values[i] = sums ? (to.values[i] ?? 0) + value : value;
  };
  for (const row of found.rows) draw(row, byKey.get(keyOf(q, row)) ?? others);
  for (const row of found.others) draw(row, others);
  if (sums && others.values.some(Boolean)) series.push(others);
  return { starts, known: starts.map((at) => recorded.has(at)), stepMs, series, cut: all.length - starts.length };
}

/** colours is the legend of what is drawn over time. */
export const colours = (q: Question, drawn: Picture | null): LegendEntry[] =>
  (q.graph === 'lines' || q.graph === 'stacked' ? (drawn?.series ?? []) : []).map((s, i) => ({
    text: s.label,
    colour: `--series-${s.others ? 8 : i % 8}`,
    dashed: i >= 8 && !s.others,
  }));
