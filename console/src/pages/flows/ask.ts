import { get, type Params } from '../../api/client';
import type { Flow, List } from '../../api/types';
import { ofFlow, ofRecord, type FlowRecord, type FlowRow } from './rows';

export interface FlowsFound { generated_at: string; rows: FlowRow[]; /** flows that match, null: more than were asked for */ total: number | null; since?: string; until?: string }

const page = 10_000;

/** A store may take its 20 s, and the answer has to come after them. */
const patienceMs = 25_000;

/** flowsOfNow asks what the tables know, at most one page. */
export async function flowsOfNow(params: Params, limit: number, signal: AbortSignal): Promise<FlowsFound> {
  const list = await get<List<'flows', Flow>>('flows', { ...params, limit: Math.min(limit, page) }, signal);
  return { generated_at: list.generated_at, rows: (list.flows ?? []).map(ofFlow), total: list.total };
}

const orders: Record<string, string> = { packets: 'packets', drops: 'drops', latency: 'residence_mean_ns' };

/** flowsOfRange asks the records of a time range, page after page, and tells how many came. */
export async function flowsOfRange(params: Params, limit: number, signal: AbortSignal, progress: (rows: number) => void): Promise<FlowsFound> {
  const rows: FlowRow[] = [];
  let cursor = '';
  for (;;) {
    const asked = { ...params, order: orders[String(params.order)] ?? 'packets', limit: Math.min(page, limit - rows.length), cursor };
    const answer = await get<List<'flows', FlowRecord> & { since: string; until: string; next_cursor?: string }>('flows', asked, signal, patienceMs);
    rows.push(...(answer.flows ?? []).map(ofRecord));
    progress(rows.length);
    cursor = answer.next_cursor ?? '';
    if (!cursor || rows.length >= limit) return { generated_at: answer.generated_at, rows, total: cursor ? null : rows.length, since: answer.since, until: answer.until };
  }
}
