// What a server without a report has heard: of whom, how much, and why nothing came of it.
import type { Exporter, Listener } from '../../api/types';
import { words } from '../../lib/format';

/** A Heard is what one source has sent so far: received counts what was looked into, why says what became of the rest. */
export interface Heard {
  source: string;
  received: number;
  reports: number;
  why: { what: 'refused' | 'malformed' | 'damaged'; count: number; because: string }[];
  last: string;
}

/** heardOf adds up the exporters of each source, the latest first. */
export function heardOf(exporters: Exporter[]): Heard[] {
  const by = new Map<string, Heard>();
  for (const e of exporters) {
    const one = by.get(e.source) ?? { source: e.source, received: 0, reports: 0, why: [], last: e.last };
    const add = (what: Heard['why'][number]['what'], count: number, because: string): void => {
      const known = one.why.find((w) => w.what === what && w.because === because);
      if (known) known.count += count;
      else if (count > 0) one.why.push({ what, count, because });
    };
    add('refused', e.refused ?? 0, e.refused_because ?? 'it may not send');
    for (const what of ['malformed', 'damaged'] as const)
      for (const [reason, count] of Object.entries(e[what] ?? {})) add(what, count, words(reason));
    one.received += e.received + (e.refused ?? 0);
    one.reports += e.reports;
    if (Date.parse(e.last) > Date.parse(one.last)) one.last = e.last;
    by.set(e.source, one);
  }
  return [...by.values()].toSorted((a, b) => Date.parse(b.last) - Date.parse(a.last));
}

/** Step is how far a server has come from nothing to the first path. */
export type Step = 'listen' | 'hear' | 'read' | 'path';

/** stepOf is what a server waits for. */
export function stepOf(listeners: Listener[], heard: Heard[]): Step {
  if (listeners.length === 0) return 'listen';
  const received = listeners.reduce((sum, l) => sum + l.received, 0) + heard.reduce((sum, h) => sum + h.received, 0);
  if (received === 0) return 'hear';
  return heard.some((h) => h.reports > 0) ? 'path' : 'read';
}
