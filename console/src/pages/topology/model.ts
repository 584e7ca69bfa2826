import type { Drop, NodeHop, Topology } from '../../api/types';
import { nodeName } from '../../lib/format';
import type { GraphNode } from '../../lib/layers';

/** A Cable is what is between two nodes, in both directions. */
export interface Cable { key: string; a: number; b: number; packets: number; delayNs: number | null; drops: number; last: string }
export interface Station { id: number; name: string; hosts: number; packets: number; queue: number | null; drops: number }
export interface Graph { stations: Station[]; cables: Cable[]; nodes: GraphNode[] }

/**
 * graphOf joins topology, hops and drops. Links between the same nodes become one cable: packets and drops are added, the delay is
 * the longest mean. The queue of a node is the longest that the latest packets of its hops met.
 */
export function graphOf(topology: Topology, hops: NodeHop[], drops: Drop[]): Graph {
  const queue = new Map<number, number>();
  for (const hop of hops) {
    if (hop.queue?.last !== undefined) queue.set(hop.node, Math.max(queue.get(hop.node) ?? 0, hop.queue.last));
  }
  const dropped = new Map<string, number>();
  for (const drop of drops) {
    for (const key of [`${drop.node}`, `${drop.node} ${drop.egress_port}`]) dropped.set(key, (dropped.get(key) ?? 0) + drop.packets);
  }
  const stations = (topology.nodes ?? []).map((node) => ({
    id: node.id, name: nodeName(node.id, node.name), hosts: (node.ports ?? []).reduce((sum, port) => sum + (port.hosts ?? 0), 0),
    packets: node.packets, queue: queue.get(node.id) ?? null, drops: dropped.get(`${node.id}`) ?? 0,
  }));
  const cables = new Map<string, Cable>();
  for (const link of topology.links ?? []) {
    const [a, b] = link.from < link.to ? [link.from, link.to] : [link.to, link.from];
    const key = `${a} ${b}`;
    const cable = cables.get(key) ?? { key, a, b, packets: 0, delayNs: null, drops: 0, last: '' };
    cable.packets += link.packets;
    cable.drops += dropped.get(`${link.from} ${link.from_port}`) ?? 0;
    const delay = link.delay?.ns?.mean;
    if (delay !== undefined) cable.delayNs = Math.max(cable.delayNs ?? 0, delay);
    if (link.last > cable.last) cable.last = link.last;
    cables.set(key, cable);
  }
  return { stations, cables: [...cables.values()], nodes: stations.map((s) => ({ id: s.id, hosts: s.hosts > 0 })) };
}

/** growth returns by how much the packets of each cable grew per second since an earlier answer. */
export function growth(now: Graph, nowMs: number, before: Graph | undefined, beforeMs: number): Map<string, number> {
  const rates = new Map<string, number>();
  const old = new Map(before?.cables.map((cable) => [cable.key, cable.packets]));
  for (const cable of now.cables) {
    const was = old.get(cable.key);
    if (was !== undefined && nowMs > beforeMs && cable.packets >= was) rates.set(cable.key, ((cable.packets - was) * 1000) / (nowMs - beforeMs));
  }
  return rates;
}
