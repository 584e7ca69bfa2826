import type { Exporter } from '../../api/types';
import { age, counted, percent } from '../../lib/format';

/** silentMs: an exporter that says nothing for so long may be gone. */
const silentMs = 60_000;

/** Health is an exporter in a line: level 0 is well, 1 worth a look, 2 something is lost. silent is about now, counts are since its first report. */
export interface Health {
  level: 0 | 1 | 2;
  silent: boolean;
  says: string;
}

/** health judges an exporter. That it says nothing any more is said whatever was lost of it before. */
export function health(e: Exporter, now: number | null): Health {
  if (e.refused) return { level: 2, silent: false, says: `refused: ${e.refused_because ?? 'it may not send'}` };
  const silent = now !== null && now - Date.parse(e.last) > silentMs;
  const bad = total(e.malformed) + total(e.damaged);
  const says: string[] = [];
  if (silent) says.push(`silent, last report ${age(e.last, now)}`);
  if (e.lost)
    says.push(`${counted(e.lost, 'datagram')} lost since its first report, ${percent(e.lost / (e.lost + e.received))}`);
  if (e.records_lost) says.push(`${counted(e.records_lost, 'record')} lost since its first report`);
  if (bad > 0) says.push(`${counted(bad, 'datagram')} could not be read fully`);
  const unknown = e.lost === null && e.records_lost === undefined;
  if (unknown) says.push(`loss unknown: ${e.loss_known.replace(/^no:? ?/, '')}`);
  const level = e.lost || e.records_lost || bad > 0 ? 2 : silent || unknown ? 1 : 0;
  return { level, silent, says: says.join('; ') || 'complete' };
}

const total = (counts: Record<string, number> | null): number => Object.values(counts ?? {}).reduce((a, b) => a + b, 0);
