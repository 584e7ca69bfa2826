import type { PathHop, PathTime } from '../../api/types';
import { inventory } from '../../api/inventory.svelte';
import { nodeName } from '../../lib/format';
import { withParts } from '../../lib/sample';

/** A Lane is a path and the times during which packets took it. */
export interface Lane {
  id: string;
  label: string;
  packets: number;
  drops: number | null;
  times: PathTime[];
}

/** pathLabel names a path by its nodes, in the order of the packet, and their ports if they are wanted. It says which parts are not known, and if packets were dropped at its end. */
export function pathLabel(path: PathTime, ports = false, unknown?: string[]): string {
  if (!path.hops?.length) return 'path unknown';
  const between = (hop: PathHop): string =>
    ports ? ` (${inventory.portsText(hop.node, hop.ingress_port, hop.egress_port)})` : '';
  const nodes = path.hops.map((hop) =>
    hop.missing ? `? ×${hop.missing}` : `${nodeName(hop.node, hop.name)}${between(hop)}`,
  );
  return `${withParts(nodes, unknown)}${path.hops.at(-1)!.dropped ? ', dropped there' : ''}`;
}

/** lanesOf puts the times of the same path, of which parts may be unknown, into one lane; lanes are in the order in which their paths were taken first. */
export function lanesOf(times: PathTime[], unknown = new Map<string, string[]>()): Lane[] {
  const lanes = new Map<string, Lane>();
  const label = (time: PathTime, ports: boolean): string => pathLabel(time, ports, unknown.get(time.id));
  // Of a time in which no packet of it was counted there is no path that would be unknown.
  const met = times.filter((time) => time.packets > 0 || (time.drops ?? 0) > 0 || time.hops?.length);
  for (const time of met.toSorted((a, b) => Date.parse(a.start) - Date.parse(b.start))) {
    const lane = lanes.get(time.id) ?? { id: time.id, label: label(time, false), packets: 0, drops: null, times: [] };
    lane.packets += time.packets;
    if (time.drops != null) lane.drops = (lane.drops ?? 0) + time.drops;
    lane.times.push(time);
    lanes.set(time.id, lane);
  }
  // Between the same nodes there may be several cables.
  const list = [...lanes.values()];
  const twice = (lane: Lane): boolean => list.some((other) => other !== lane && other.label === lane.label);
  return list.map((lane) => (twice(lane) ? { ...lane, label: label(lane.times[0]!, true) } : lane));
}
