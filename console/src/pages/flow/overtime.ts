import type { Params } from '../../api/client';
import type { PathHop } from '../../api/types';
import { every, is } from '../../lib/filter';
import type { Lane } from './band';

/** A View is something that the latency of a flow can be looked at: all its nodes together, or one hop. */
export interface View {
  key: string;
  title: string;
  node: number | null;
  hop?: PathHop;
}

const placeOf = (hop: PathHop): string => `${hop.node}-${hop.ingress_port ?? ''}-${hop.egress_port ?? ''}`;

/** viewsOf lists all nodes together, and the hops of the paths that a flow took, each once. */
export function viewsOf(lanes: Lane[], name: (hop: PathHop) => string): View[] {
  const hops = new Map<string, PathHop>();
  for (const hop of lanes.flatMap((lane) => lane.times[0]?.hops ?? [])) {
    if (hop.node !== null && !hop.dropped) hops.set(placeOf(hop), hop);
  }
  return [
    { key: '', title: 'all nodes together', node: null },
    ...[...hops].map(([key, hop]) => ({ key, title: name(hop), node: hop.node, hop })),
  ];
}

/** selects are the parameters of the heat map of a view: of all packets on the paths of the flow, or at the hop. */
export function selects({ hop }: View, lanes: Lane[]): Params | null {
  if (!hop) {
    const ids = lanes.filter((lane) => lane.id !== '').map((lane) => JSON.stringify(lane.id));
    return ids.length > 0 ? { of: 'paths', filter: `id in (${ids.join(', ')})` } : null;
  }
  const ports = [is('ingress_port', hop.ingress_port), is('egress_port', hop.egress_port)];
  return { of: 'hops', filter: every('', is('node', hop.node), ...ports) };
}
