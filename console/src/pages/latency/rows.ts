// A heat map of latency as a table: what its lines are of, and its cells.
import type { Heatmap } from '../../api/types';
import { cellsOf } from '../../lib/csv';
import { columnsOf } from './heat';

const figures = ['packets', 'min_ns', 'mean_ns', 'p50_ns', 'p99_ns', 'max_ns'] as const;

/** rowsOf has a row for each piece of time: own is what the lines are of, which has no cells if it is of flows. */
export function rowsOf(map: Heatmap, own: Heatmap, before: Heatmap | null | undefined): string[][] {
  const shift = before ? Date.parse(map.since) - Date.parse(before.since) : 0;
  const columns = ({ times, spread }: Heatmap, title: (name: string) => string, shift: number) => {
    const at = new Map(times.map((time, i) => [Date.parse(time) + shift, spread[i]]));
    return figures.map((name) => ({ title: title(name), of: (time: number) => at.get(time)?.[name] }));
  };
  const bounds = map.bounds ?? [];
  return cellsOf(
    columnsOf(map),
    bounds.slice(1).map((to, i) => `${bounds[i]} to ${to} ns`),
    null,
    [...columns(own, (name) => name, 0), ...(before ? columns(before, (name) => `${name}, before`, shift) : [])],
  );
}
