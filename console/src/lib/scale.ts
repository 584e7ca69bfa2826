import { range } from 'd3-array';
import { line, stack } from 'd3-shape';

/** logScale returns a function from a value in [min, max] to its share 0 to 1 on a logarithmic axis. */
export function logScale(min: number, max: number): (value: number) => number {
  const low = Math.log10(Math.max(1, min));
  const high = Math.max(low + 1e-9, Math.log10(Math.max(1, max)));
  return (value) => Math.min(1, Math.max(0, (Math.log10(Math.max(1, value)) - low) / (high - low)));
}

/** logStep returns a function from a value in [min, max] to its step 0 to steps - 1 on a logarithmic axis; where all are the same, it is the last. */
export const logStep =
  (min: number, max: number, steps: number): ((value: number) => number) =>
  (value) =>
    max > min ? Math.min(steps - 1, Math.floor((steps * Math.log(value / min)) / Math.log(max / min))) : steps - 1;

/** decades returns the powers of ten in [min, max]. */
export function decades(min: number, max: number): number[] {
  const ticks: number[] = [];
  for (let tick = 10 ** Math.ceil(Math.log10(Math.max(1, min))); tick <= max; tick *= 10) ticks.push(tick);
  return ticks;
}

/** stacked returns, for each row, its lower and upper edge at each step when the rows stand on one another. */
export const stacked = (rows: number[][]): [number, number][][] =>
  stack<unknown, number, number>()
    .keys(rows.keys())
    .value((step, row) => rows[row]![step]!)(range(rows[0]?.length ?? 0))
    .map((row) => row.map(([low, high]) => [low, high]));

/** through is the path of a line through values; null is a gap. */
export const through = (values: (number | null)[], x: (i: number) => number, y: (value: number) => number): string =>
  line<number | null>()
    .defined((value) => value !== null)
    .x((_, i) => x(i))
    .y((value) => y(value!))(values) ?? '';
