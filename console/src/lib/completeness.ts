// Which share of the datagrams of exporters arrived.
import type { ExporterRecord, Loss } from '../api/types';

export interface Arrivals {
  /** datagrams missing, and all that were sent, of exporters whose sequence numbers count */ lost: number;
  sent: number;
  /** exporters of which nobody knows */ unknown: number;
}

/** arrivalsOf adds up the exporters of a time range. */
export function arrivalsOf(exporters: ExporterRecord[]): Arrivals {
  const counting = exporters.filter((e) => e.lost !== undefined);
  const lost = Math.max(
    0,
    counting.reduce((sum, e) => sum + e.lost!, 0),
  ); // one that came late is below 0 in its interval
  return {
    lost,
    sent: lost + counting.reduce((sum, e) => sum + (e.received ?? 0) - (e.duplicate ?? 0), 0),
    unknown: exporters.length - counting.length,
  };
}

/** arrivalsOfNow adds up the ledger of the last minutes. */
export function arrivalsOfNow(loss: Loss[]): Arrivals {
  const counting = loss.filter((l) => l.lost !== null && l.sent !== null);
  return {
    lost: counting.reduce((sum, l) => sum + l.lost!, 0),
    sent: counting.reduce((sum, l) => sum + l.sent!, 0),
    unknown: loss.length - counting.length,
  };
}

/** What of now is a rate or a share is of the last minutes: what was wrong hours ago is over. */
export const recentParams = { since: '15m' };
export const recentTitle = 'last 15 min';
