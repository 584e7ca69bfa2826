import type { Burst, Drop, Endpoints, FlowPath, Incident, PathHop } from '../../api/types';
import { flowName } from '../../lib/format';
import { severityRank } from '../../lib/severity';
import { prefixOf } from '../drops/chains';

/** Hits are what was at a hop while packets of a flow came by: bursts that they were in, incidents of that place, and drops on the way to its prefix. */
export interface Hits {
  bursts: Burst[];
  incidents: Incident[];
  drops: Drop[];
}

/** A Known is what there is to choose from. */
export interface Known {
  bursts: Burst[];
  incidents: Incident[];
  drops: Drop[];
}

/** hitsOf are the hits of a hop of a path of a flow: the bursts with the longest queue first, and the worst incidents. */
export function hitsOf(flow: Endpoints, path: FlowPath, hop: PathHop, known: Known): Hits {
  const [from, to] = [Date.parse(path.first), Date.parse(path.last)];
  const while_ = (start: string, end: string | null): boolean =>
    Date.parse(start) <= to && (end === null || Date.parse(end) >= from);
  const name = flowName(flow);
  const mine = (list: { flow: Endpoints | null }[] | null): boolean =>
    (list ?? []).some((one) => one.flow !== null && flowName(one.flow) === name);
  const bursts = known.bursts
    .filter((b) => b.node === hop.node && b.port === hop.egress_port && (mine(b.culprits) || mine(b.victims)))
    .toSorted((a, b) => b.peak_delay_ns - a.peak_delay_ns);
  const ids = new Set(bursts.map((b) => b.id));
  const incidents = known.incidents
    .filter((i) => {
      if ((i.events ?? []).some((e) => ids.has(e.id))) return true;
      const here =
        i.node === hop.node && (i.port === undefined || [hop.egress_port, hop.ingress_port].includes(i.port));
      return hop.node !== null && here && while_(i.start, i.end);
    })
    .toSorted((a, b) => severityRank(a.severity) - severityRank(b.severity));
  const prefix = prefixOf(flow.dst);
  const same = (a: number | null, b: number | null): boolean => a === null || b === null || a === b;
  const drops = known.drops.filter(
    (d) =>
      d.node === hop.node &&
      hop.node !== null &&
      same(d.ingress_port, hop.ingress_port) &&
      same(d.egress_port, hop.dropped ? null : hop.egress_port) &&
      while_(d.first, d.last) &&
      (d.to ?? []).some((t) => t.prefix === prefix),
  );
  return { bursts, incidents, drops };
}

/** packetsTo are how many of its packets were dropped on the way to the prefix of an address. */
export const packetsTo = (drop: Drop, dst: string): number =>
  (drop.to ?? []).find((t) => t.prefix === prefixOf(dst))?.packets ?? 0;
