import type { Params } from '../../api/client';
import type { Event } from '../../api/types';
import { every } from '../../lib/filter';
import { severityRank } from '../../lib/severity';

/**
 * worstEvents asks for the latest events, for those that are at least a warning, and for those that are critical, at most limit of
 * each: among many of no importance the latest of all may have none of the others. worst are all of them, the worst first.
 */
export async function worstEvents<T extends { events: Event[] | null }>(
  filter: string,
  limit: number,
  ask: (params: Params) => Promise<T>,
): Promise<{ all: T; serious: T; worst: Event[] }> {
  const [all, serious, critical] = await Promise.all([
    ask({ filter, limit }),
    ask({ filter: every(filter, 'severity >= warning'), limit }),
    ask({ filter: every(filter, 'severity >= critical'), limit }),
  ]);
  const byID = new Map([all, serious, critical].flatMap((list) => list.events ?? []).map((event) => [event.id, event]));
  const worst = [...byID.values()].sort(
    (a, b) => severityRank(a.severity) - severityRank(b.severity) || (a.start < b.start ? 1 : -1),
  );
  return { all, serious, worst };
}
