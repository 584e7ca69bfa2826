import type { Drop, DropRecord, Flow, PathHop } from '../../api/types';
import { prefixOf } from '../drops/chains';
import type { Lane } from './band';

/** A Loss is where packets of a flow were dropped, how many, and when: from and to are ms since 1970. */
export interface Loss {
  hop: PathHop | null;
  packets: number;
  from: number;
  to: number;
  lane: string;
}

/**
 * lossesOf lists where and when a flow lost packets, the latest first. The lanes have what is written; what is too new for that is in
 * paths, which the tables remember, the latest two. slackMs is by how much the times of lanes may be off.
 */
export function lossesOf(lanes: Lane[], paths: Flow['paths'], slackMs: number): Loss[] {
  const end = (hops: PathHop[] | null): PathHop | null => (hops?.at(-1)?.dropped ? hops.at(-1)! : null);
  const list: Loss[] = [];
  for (const lane of lanes) {
    for (const time of lane.times) {
      const hop = end(time.hops);
      const packets = time.drops ?? (hop ? time.packets : 0);
      if (packets > 0)
        list.push({ hop, packets, from: Date.parse(time.start), to: Date.parse(time.end), lane: lane.id });
    }
  }
  for (const path of paths ?? []) {
    const hop = end(path.hops);
    const [from, to] = [Date.parse(path.first), Date.parse(path.last)];
    if (!hop || list.some((loss) => loss.lane === path.id && loss.to + slackMs >= to)) continue;
    const written = list.find((loss) => loss.lane === path.id && loss.to + slackMs >= from); // its beginning
    if (written) [written.packets, written.to] = [Math.max(written.packets, path.packets), to];
    else list.push({ hop, packets: path.packets, from, to, lane: path.id });
  }
  return list.toSorted((a, b) => b.from - a.from);
}

/** nodesOf are the ids of the nodes of paths, each once. */
export function nodesOf(paths: { hops: PathHop[] | null }[]): number[] {
  return [
    ...new Set(paths.flatMap((path) => path.hops ?? []).flatMap((hop) => (hop.node === null ? [] : [hop.node]))),
  ].sort((a, b) => a - b);
}

/** A Reason is why packets were dropped at a place. */
export interface Reason {
  reason: number;
  name: string;
}

const isAt = (
  hop: PathHop,
  d: { node?: number | null; ingress_port?: number | null; egress_port?: number | null },
): boolean => {
  const same = (a: number | null | undefined, b: number | null | undefined): boolean =>
    a == null || b == null || a === b;
  return hop.node === d.node && same(hop.ingress_port, d.ingress_port) && same(hop.egress_port, d.egress_port);
};

/** reasonsOf are the reasons of records of drops at the place and in the time of a loss, the most frequent first. stepMs is the length of a record. */
export function reasonsOf(loss: Loss, records: DropRecord[], stepMs: number): Reason[] {
  return byPackets(
    records.flatMap((r) => {
      const at = Date.parse(r.start ?? '');
      if (
        !loss.hop ||
        r.reason === undefined ||
        !isAt(loss.hop, r) ||
        at >= loss.to + stepMs ||
        at + stepMs <= loss.from
      )
        return [];
      return [{ reason: r.reason, name: r.reason_name ?? `reason ${r.reason}`, packets: r.packets ?? 0 }];
    }),
  );
}

/** reasonsNow are those of the tables, which tell of all drops since the start, for a server that keeps no records. */
export function reasonsNow(loss: Loss, drops: Drop[], dst: string): Reason[] {
  const prefix = prefixOf(dst);
  return byPackets(
    drops.flatMap((d) => {
      if (!loss.hop || !isAt(loss.hop, d) || Date.parse(d.last) < loss.from || Date.parse(d.first) > loss.to) return [];
      const to = d.to?.find((t) => t.prefix === prefix);
      return to ? [{ reason: d.reason, name: d.reason_name, packets: to.packets }] : [];
    }),
  );
}

function byPackets(list: (Reason & { packets: number })[]): Reason[] {
  const sums = new Map<number, Reason & { packets: number }>();
  for (const one of list) {
    const sum = sums.get(one.reason);
    if (sum) sum.packets += one.packets;
    else sums.set(one.reason, { ...one });
  }
  return [...sums.values()].sort((a, b) => b.packets - a.packets).map(({ reason, name }) => ({ reason, name }));
}
