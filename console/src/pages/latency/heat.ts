// What a heat map of latency is made of: columns, marks and lines from the answer of the API.
import type { ExporterRecord, Heatmap } from '../../api/types';
import { duration } from '../../lib/format';

export interface Column {
  at: number;
  ms: number;
  values: (number | null)[];
}

/** widths gives each piece its length: up to the next one, but not more than a piece or the interval that it comes from. */
export function widths(times: number[], stepMs: number): { at: number; ms: number }[] {
  return times.map((at, i) => ({ at, ms: Math.min(times[i + 1] === undefined ? stepMs : times[i + 1]! - at, stepMs) }));
}

/** columnsOf turns an answer into columns. Pieces may be as long as the intervals that they come from. */
export function columnsOf(map: Heatmap): Column[] {
  const step = Math.max(map.step_ns, map.resolution_ns) / 1e6;
  return widths(
    map.times.map((t) => Date.parse(t)),
    step,
  ).map((piece, i) => ({ ...piece, values: map.counts[i]! }));
}

/** rowOf is where a latency lies on the axis of buckets: its bucket, and the share of it below the latency. */
export function rowOf(bounds: number[], ns: number): number | null {
  const [low, high] = [bounds[0], bounds.at(-1)];
  if (low === undefined || high === undefined || bounds.length < 2 || ns <= 0) return null;
  return ((Math.log2(ns) - Math.log2(low)) / (Math.log2(high) - Math.log2(low))) * (bounds.length - 1);
}

/** latencyMarks are the powers of ten among the bounds, and 2 and 5 between them where there are few. */
export function latencyMarks(bounds: number[]): { y: number; text: string }[] {
  const [low, high] = [bounds[0], bounds.at(-1)];
  if (low === undefined || high === undefined) return [];
  const decades = Math.log10(high / low);
  const marks: { y: number; text: string }[] = [];
  for (let power = 10 ** Math.floor(Math.log10(low)); power <= high; power *= 10) {
    for (const m of decades < 1.2 ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : decades < 3 ? [1, 2, 5] : [1]) {
      if (power * m >= low && power * m <= high)
        marks.push({ y: rowOf(bounds, power * m)!, text: duration(power * m) });
    }
  }
  return marks;
}

/** lineOf joins the middles of pieces; a piece that is missing parts the line. */
export function lineOf(
  columns: Column[],
  bounds: number[],
  values: number[],
  shiftMs = 0,
): { at: number; y: number | null }[] {
  return columns.flatMap((column, i) => {
    const point = { at: column.at + column.ms / 2 + shiftMs, y: rowOf(bounds, values[i]!) };
    const next = columns[i + 1];
    return next && next.at - column.at > 2.5 * column.ms
      ? [point, { at: column.at + column.ms + shiftMs, y: null }]
      : [point];
  });
}

/** completenessOf returns the share of datagrams that arrived in the interval that holds a time; null where it is not known. */
export function completenessOf(records: ExporterRecord[], stepMs: number): (from: number, to: number) => number | null {
  const pieces = records.map((r) => ({
    at: Date.parse(r.start ?? ''),
    arrived: (r.received ?? 0) - (r.duplicate ?? 0),
    lost: r.lost ?? null,
  }));
  return (from, to) => {
    const inside = pieces.filter((p) => p.at < to && p.at + stepMs > from);
    if (inside.length === 0 || inside.some((p) => p.lost === null)) return null;
    const arrived = inside.reduce((sum, p) => sum + p.arrived, 0);
    const lost = Math.max(
      0,
      inside.reduce((sum, p) => sum + p.lost!, 0),
    ); // late ones were taken off
    return arrived + lost > 0 ? arrived / (arrived + lost) : null;
  };
}

/** change says by how much a number differs from an earlier one. */
export function change(now: number, before: number): string {
  if (before <= 0) return '';
  const factor = now / before;
  if (Math.abs(factor - 1) < 0.005) return 'same';
  if (factor >= 2) return `× ${factor.toFixed(1)}`;
  return `${factor > 1 ? '+' : '−'}${Math.round(Math.abs(factor - 1) * 100)} %`;
}
