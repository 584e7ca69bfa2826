import type { BurstDetail, Endpoints, Event } from '../../api/types';
import { bytes, duration, flowName, number, percent, words } from '../../lib/format';
import { waitOf } from '../burst/packets';

/** A Behind is a flow that an incident is known to have to do with, and what that is. */
export interface Behind {
  flow: Endpoints;
  why: string;
  drops: number | null;
}

/** behind lists the flows that filled the queues of an incident or waited there, and those that its events name, each once. */
export function behind(events: Iterable<Event>, bursts: BurstDetail[]): Behind[] {
  const all: Behind[] = [];
  for (const burst of bursts) {
    for (const c of burst.culprits ?? []) {
      const why = `filled the queue: ${bytes(c.build_up_bytes)} before the peak, ${percent(c.share)}`;
      if (c.flow) all.push({ flow: c.flow, why, drops: c.drops });
    }
    for (const v of burst.victims ?? []) {
      const why = `waited up to ${duration(waitOf(v, v.max_extra_ns))} in the queue, ${number(v.packets)} packets`;
      if (v.flow) all.push({ flow: v.flow, why, drops: v.drops });
    }
  }
  for (const event of events)
    if (event.flow) all.push({ flow: event.flow, why: `an example of the ${words(event.kind)}`, drops: null });
  const seen = new Set<string>();
  return all.filter(({ flow }) => !seen.has(flowName(flow)) && seen.add(flowName(flow)));
}
