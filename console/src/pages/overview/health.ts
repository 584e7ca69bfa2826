import type { Exporter } from '../../api/types';
import { age, number, percent } from '../../lib/format';

/** silentMs: an exporter that says nothing for so long may be gone. */
const silentMs = 60_000;

/** health judges an exporter in a line: level 0 is well, 1 worth a look, 2 something is lost. */
export function health(e: Exporter, now: number | null): { level: 0 | 1 | 2; says: string } {
  if (e.refused) return { level: 2, says: `refused: ${e.refused_because ?? 'it may not send'}` };
  const bad = total(e.malformed) + total(e.damaged);
  if (e.lost) return { level: 2, says: `${number(e.lost)} datagrams lost, ${percent(e.lost / (e.lost + e.received))}` };
  if (bad > 0) return { level: 2, says: `${number(bad)} datagrams could not be read fully` };
  if (now !== null && now - Date.parse(e.last) > silentMs) return { level: 1, says: `silent, last report ${age(e.last, now)}` };
  if (e.lost === null) return { level: 1, says: `loss unknown: ${e.loss_known.replace(/^no:? ?/, '')}` };
  return { level: 0, says: 'complete' };
}

const total = (counts: Record<string, number> | null): number => Object.values(counts ?? {}).reduce((a, b) => a + b, 0);
