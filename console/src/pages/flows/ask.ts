import { get, type Params } from '../../api/client';
import type { Flow, List } from '../../api/types';
import { ofFlow, ofRecord, type FlowRecord, type FlowRow } from './rows';

export interface FlowsFound {
  generated_at: string;
  rows: FlowRow[];
  /** flows that match, null: more than were asked for */ total: number | null;
  since?: string;
  until?: string;
}

const page = 10_000;

/** flowsOfNow asks what the tables know, page after page, and tells how many came. Flows move between pages meanwhile: one that came twice counts once. */
export async function flowsOfNow(
  params: Params,
  limit: number,
  signal: AbortSignal,
  progress: (rows: number) => void,
): Promise<FlowsFound> {
  const rows = new Map<string, FlowRow>();
  let cursor = '';
  for (let asked = 0; ; asked += page) {
    const list = await get<List<'flows', Flow> & { next_cursor?: string }>(
      'flows',
      { ...params, limit: Math.min(page, limit - asked), cursor },
      signal,
    );
    for (const flow of list.flows ?? []) rows.set(flow.id, ofFlow(flow));
    progress(rows.size);
    cursor = list.next_cursor ?? '';
    if (!cursor || asked + page >= limit)
      return { generated_at: list.generated_at, rows: [...rows.values()], total: list.total };
  }
}

/** everyMsOfNow is how often so many flows of now are asked for: an answer has 1.2 kB for each. */
export const everyMsOfNow = (limit: number): number => (limit > page ? 30_000 : limit > 1000 ? 5000 : 2000);

const orders: Record<string, string> = { packets: 'packets', drops: 'drops', latency: 'residence_max_ns' };

/** flowsOfRange asks the records of a time range, page after page, and tells how many came. */
export async function flowsOfRange(
  params: Params,
  limit: number,
  signal: AbortSignal,
  progress: (rows: number) => void,
): Promise<FlowsFound> {
  const rows: FlowRow[] = [];
  let cursor = '';
  for (;;) {
    const asked = {
      ...params,
      order: orders[String(params.order)] ?? 'packets',
      limit: Math.min(page, limit - rows.length),
      cursor,
    };
    const answer = await get<List<'flows', FlowRecord> & { since: string; until: string; next_cursor?: string }>(
      'flows',
      asked,
      signal,
    );
    const seconds = (Date.parse(answer.until) - Date.parse(answer.since)) / 1000;
    rows.push(...(answer.flows ?? []).map((r) => ofRecord(r, seconds)));
    progress(rows.length);
    cursor = answer.next_cursor ?? '';
    if (!cursor || rows.length >= limit)
      return {
        generated_at: answer.generated_at,
        rows,
        total: cursor ? null : rows.length,
        since: answer.since,
        until: answer.until,
      };
  }
}
