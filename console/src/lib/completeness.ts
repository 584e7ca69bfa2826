// Which share of the datagrams of exporters arrived.
import type { ExporterRecord } from '../api/types';

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
