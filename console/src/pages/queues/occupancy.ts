// Heat maps of queues, from records of their occupancy in pieces of time.
import type { QueueRecord } from '../../api/types';
import { inventory } from '../../api/inventory.svelte';
import { every } from '../../lib/filter';
import { nodeName } from '../../lib/format';

export interface Column {
  at: number;
  ms: number;
  values: (number | null)[];
}

export const keyOf = (q: QueueRecord): string => `${q.node} ${q.egress_port ?? ''} ${q.queue ?? ''}`;
export const nameOf = (q: QueueRecord): string =>
  `${nodeName(q.node, q.name)} ${inventory.portsText(q.node, null, q.egress_port)}${q.queue ? ` q${q.queue}` : ''}`;

/** filterOf selects some queues of all, and of their records those that a filter selects, if there is one. */
export function filterOf(queues: QueueRecord[], filter = ''): string {
  const some = queues
    .map(
      (q) =>
        `(node = ${q.node}${q.egress_port === undefined ? '' : ` and egress_port = ${q.egress_port}`}${q.queue === undefined ? '' : ` and queue = ${q.queue}`})`,
    )
    .join(' or ');
  return filter ? every(filter, `(${some})`) : some;
}

/** rowsOf puts the highest occupancy of each queue in each piece into columns, the first queue at the top. */
export function rowsOf(records: QueueRecord[], queues: QueueRecord[], stepMs: number): Column[] {
  const row = new Map(queues.map((q, i) => [keyOf(q), queues.length - 1 - i]));
  const columns = new Map<number, Column>();
  for (const r of records) {
    const at = Date.parse(r.start ?? '');
    const column = columns.get(at) ?? { at, ms: stepMs, values: Array(queues.length).fill(null) };
    const i = row.get(keyOf(r));
    if (i !== undefined) column.values[i] = r.occupancy_max ?? null;
    columns.set(at, column);
  }
  return [...columns.values()].sort((a, b) => a.at - b.at);
}

export const meanOf = (q: QueueRecord): number => q.occupancy_mean ?? 0;

/** pointsOf are the mean depths of pieces of pieceMs, each at the middle of its piece. */
export const pointsOf = (records: QueueRecord[], pieceMs: number): { at: number; mean: number }[] =>
  records.map((r) => ({ at: Date.parse(r.start ?? '') + pieceMs / 2, mean: meanOf(r) }));

/**
 * depthsOf puts the records of one queue on a grid of time and depth: in how many packets' pieces the highest depth lay there. The grid goes
 * up to least at least.
 */
export function depthsOf(
  records: QueueRecord[],
  stepMs: number,
  rows: number,
  least = 1,
): { columns: Column[]; top: number } {
  const top = Math.max(least, ...records.map((r) => r.occupancy_max ?? 0));
  const columns = new Map<number, Column>();
  for (const r of records) {
    const at = Math.floor(Date.parse(r.start ?? '') / stepMs) * stepMs;
    const column = columns.get(at) ?? { at, ms: stepMs, values: Array(rows).fill(0) };
    const row = Math.min(rows - 1, Math.floor(((r.occupancy_max ?? 0) / top) * rows));
    column.values[row] = column.values[row]! + (r.samples ?? 0);
    columns.set(at, column);
  }
  return { columns: [...columns.values()].sort((a, b) => a.at - b.at), top };
}
