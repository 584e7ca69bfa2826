import type { PathTime } from '../../api/types';
import { nodeName } from '../../lib/format';

/** A Lane is a path and the times during which packets took it. */
export interface Lane { id: string; label: string; packets: number; drops: number | null; times: PathTime[] }

/** pathLabel names a path by its nodes, in the order of the packet. */
export const pathLabel = (path: PathTime): string =>
  path.hops?.length ? path.hops.map((hop) => (hop.missing ? `? ×${hop.missing}` : nodeName(hop.node, hop.name))).join(' → ') : 'a path that is not known';

/** lanesOf puts the times of the same path into one lane; lanes are in the order in which their paths were taken first. */
export function lanesOf(times: PathTime[]): Lane[] {
  const lanes = new Map<string, Lane>();
  for (const time of times.toSorted((a, b) => Date.parse(a.start) - Date.parse(b.start))) {
    const lane = lanes.get(time.id) ?? { id: time.id, label: pathLabel(time), packets: 0, drops: null, times: [] };
    lane.packets += time.packets;
    if (time.drops != null) lane.drops = (lane.drops ?? 0) + time.drops;
    lane.times.push(time);
    lanes.set(time.id, lane);
  }
  return [...lanes.values()];
}
