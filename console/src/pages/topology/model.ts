import type {
  Drop,
  DropRecord,
  Event,
  Link,
  LinkLoss,
  NodeHop,
  QueueRecord,
  Sample,
  Topology,
  Utilization,
} from '../../api/types';
import { nodeName, number, percent } from '../../lib/format';
import { stale } from '../../lib/fresh';
import type { GraphNode } from '../../lib/layers';

/** A Side is one direction of a cable, between two ports. */
export interface Side {
  from: number;
  fromPort: number | null;
  to: number;
  toPort: number | null;
  packets: number;
  delayNs: number | null;
  drops: number;
  /** drops since the start, of now */ dropsInAll?: number;
  /** what links are coloured by: now the latest, else the mean */ use: number | null;
  told: Utilization | undefined;
  /** of now */ loss: LinkLoss | undefined;
  /** of now */ sample: Sample | undefined;
  last: string;
}
/** Carried is what goes by a cable, or by one direction of it, between all ports. lastMs is when a packet was there last, 0 if it is not known; gone that it was not there at the moment; lost that an event which goes on says so. */
export interface Carried {
  key: string;
  packets: number;
  delayNs: number | null;
  drops: number;
  use: number | null;
  /** the larger share that is lost on the way */ loss: number | null;
  /** packets are lost for sure: no interval has 0 */ lossy: boolean;
  lastMs: number;
  gone: boolean;
  lost: boolean;
}
/** A Half is one direction of a cable: what leaves a node. */
export interface Half extends Carried {
  from: number;
  to: number;
}
/** A Cable is what is between two nodes, in both directions. */
export interface Cable extends Carried {
  a: number;
  b: number;
  sides: Side[];
  /** from a, and from b */ halves: [Half, Half];
}
export interface Station {
  id: number;
  name: string;
  /** addresses behind it: a host has one in each tunnel too */ hosts: number;
  packets: number;
  queue: number | null;
  /** what it is counted in; undefined: that is not known, or differs */ unit: string | undefined;
  /** the longest queue that was met there: what its bar is measured against */ longest: number;
  drops: number;
}
export interface Graph {
  stations: Station[];
  cables: Cable[];
  nodes: GraphNode[];
}

/** A Moment is what was there in a piece of time, which is ms long, and what it carried. */
export interface Moment {
  at: number;
  ms: number;
  topology: Topology;
  queues: QueueRecord[];
  drops: DropRecord[];
}

/** ofUse says what utilization is of. No report names the unit of its device: the configuration or the dialect does. */
export const ofUse = (unit: string | undefined): string =>
  fullOf(unit)
    ? 'of the speed of the port'
    : 'as the node reports it: nothing says in which unit (utilization_unit of the configuration does)';

/** useText writes a utilization: in percent where its unit is share:N, of N in full use. */
export function useText(use: number | null, unit: string | undefined): string {
  const full = fullOf(unit);
  return full && use !== null ? percent(use / full) : number(use);
}

const fullOf = (unit: string | undefined): number => Number(/^share:(\d+)$/.exec(unit ?? '')?.[1] ?? 0);

/** unitOfAll is the unit of utilization, if all cables of a graph that have one have the same. */
export function unitOfAll(graph: Graph | undefined): string | undefined {
  const units = new Set(graph?.cables.flatMap((c) => c.sides.flatMap((side) => side.told?.unit ?? [])));
  return units.size === 1 ? [...units][0] : undefined;
}

/** queuesNow leaves out the occupancies of hops that no packet told of for a while. */
export const queuesNow = (hops: NodeHop[], nowMs: number): NodeHop[] =>
  hops.map((hop) =>
    hop.queue?.last !== undefined && stale(hop.last, nowMs)
      ? { ...hop, queue: { ...hop.queue, last: undefined } }
      : hop,
  );

/** Units are what nodes count their queues in, where all queues of a node are counted alike. */
class Units {
  #of = new Map<number, Set<string | undefined>>();

  add(node: number, unit: string | undefined): void {
    this.#of.set(node, (this.#of.get(node) ?? new Set()).add(unit));
  }
  of(node: number): string | undefined {
    const all = this.#of.get(node);
    return all?.size === 1 ? [...all][0] : undefined;
  }
}

/**
 * graphOf joins topology, hops and drops. Links between the same nodes become one cable: packets and drops are added, delay and use
 * are those of the worst. The queue of a node is the longest that the latest packets of its hops met. Drops are those of the last
 * minute; inAll are those since the start.
 */
export function graphOf(topology: Topology, hops: NodeHop[], drops: Drop[], inAll: Drop[]): Graph {
  const queue = new Map<number, number>();
  const longest = new Map<number, number>();
  const units = new Units();
  for (const hop of hops) {
    if (hop.queue) units.add(hop.node, hop.queue.unit);
    if (hop.queue?.last !== undefined) queue.set(hop.node, Math.max(queue.get(hop.node) ?? 0, hop.queue.last));
    longest.set(hop.node, Math.max(longest.get(hop.node) ?? 0, hop.queue?.max ?? 0));
  }
  const dropped = dropsBy(drops);
  const stations = (topology.nodes ?? []).map((node) => ({
    id: node.id,
    name: nodeName(node.id, node.name),
    hosts: hostsOf(node),
    packets: node.packets,
    queue: queue.get(node.id) ?? null,
    unit: units.of(node.id),
    longest: longest.get(node.id) ?? 0,
    drops: dropped.get(`${node.id}`) ?? 0,
  }));
  const cables = new Map<string, Cable>();
  const ever = dropsBy(inAll);
  for (const link of topology.links ?? []) {
    const use = stale(link.last, Date.parse(topology.generated_at)) ? undefined : link.utilization?.last;
    add(
      cables,
      { ...sideOf(link, dropped, use), dropsInAll: ever.get(portOf(link)) ?? 0 },
      Date.parse(link.last),
      true,
    );
  }
  return finish(stations, cables);
}

/**
 * graphAt is the graph of a moment. Its nodes and cables are those of the whole range, so that it stands still while time passes; what
 * was not there at the moment is gone. inAll has the longest queues of the whole range.
 */
export function graphAt(whole: Topology, moment: Moment | undefined, inAll: QueueRecord[] = []): Graph {
  const key = (l: Link): string => `${l.from} ${l.from_port} ${l.to} ${l.to_port}`;
  const there = new Map((moment?.topology.links ?? []).map((link) => [key(link), link]));
  const packets = new Map((moment?.topology.nodes ?? []).map((node) => [node.id, node.packets]));
  const dropped = dropsBy(moment?.drops ?? []);
  const queue = new Map<number, number>();
  const units = new Units();
  for (const q of moment?.queues ?? []) {
    if (q.node !== undefined) units.add(q.node, q.unit);
    if (q.node !== undefined && q.occupancy_max !== undefined)
      queue.set(q.node, Math.max(queue.get(q.node) ?? 0, q.occupancy_max));
  }
  const longest = new Map<number, number>(queue);
  for (const q of inAll) {
    if (q.node !== undefined) longest.set(q.node, Math.max(longest.get(q.node) ?? 0, q.occupancy_max ?? 0));
  }
  const cables = new Map<string, Cable>();
  for (const link of whole.links ?? []) {
    const at = there.get(key(link));
    const side = sideOf(
      at ?? { ...link, packets: 0, delay: null, utilization: undefined, loss: undefined },
      dropped,
      at?.utilization?.mean,
    );
    add(cables, side, at?.packets && moment ? moment.at : 0, at !== undefined || moment === undefined);
  }
  const stations = (whole.nodes ?? []).map((node) => ({
    id: node.id,
    name: nodeName(node.id, node.name),
    hosts: hostsOf(node),
    packets: packets.get(node.id) ?? 0,
    queue: queue.get(node.id) ?? null,
    unit: units.of(node.id),
    longest: longest.get(node.id) ?? 0,
    drops: dropped.get(`${node.id}`) ?? 0,
  }));
  return finish(stations, cables);
}

const sideOf = (link: Link, dropped: Map<string, number>, use: number | undefined): Side => ({
  from: link.from,
  fromPort: link.from_port,
  to: link.to,
  toPort: link.to_port,
  packets: link.packets,
  delayNs: link.delay?.ns?.mean ?? null,
  drops: dropped.get(portOf(link)) ?? 0,
  use: use ?? null,
  told: link.utilization,
  loss: link.loss,
  sample: link.sample,
  last: link.last,
});

const nothing = (key: string): Carried => ({
  key,
  packets: 0,
  delayNs: null,
  drops: 0,
  use: null,
  loss: null,
  lossy: false,
  lastMs: 0,
  gone: true,
  lost: false,
});

function add(cables: Map<string, Cable>, side: Side, lastMs: number, there: boolean): void {
  const [a, b] = side.from < side.to ? [side.from, side.to] : [side.to, side.from];
  const key = `${a} ${b}`;
  const half = (from: number, to: number): Half => ({ ...nothing(`${from} > ${to}`), from, to });
  const cable = cables.get(key) ?? { ...nothing(key), a, b, sides: [], halves: [half(a, b), half(b, a)] };
  for (const part of [cable, cable.halves[side.from === a ? 0 : 1]]) {
    part.packets += side.packets;
    part.drops += side.drops;
    if (side.delayNs !== null) part.delayNs = Math.max(part.delayNs ?? 0, side.delayNs);
    if (side.use !== null) part.use = Math.max(part.use ?? 0, side.use);
    if (side.loss?.share != null) part.loss = Math.max(part.loss ?? 0, side.loss.share);
    if ((side.loss?.lower ?? 0) > 0) part.lossy = true;
    part.lastMs = Math.max(part.lastMs, lastMs);
    if (there) part.gone = false;
  }
  cable.sides.push(side);
  cables.set(key, cable);
}

const finish = (stations: Station[], cables: Map<string, Cable>): Graph => ({
  stations,
  cables: [...cables.values()],
  nodes: stations.map((s) => ({ id: s.id, hosts: s.hosts > 0 })),
});

const hostsOf = (node: NonNullable<Topology['nodes']>[number]): number =>
  (node.ports ?? []).reduce((sum, port) => sum + (port.hosts ?? 0), 0);

const portOf = (link: Link): string => `${link.from} ${link.from_port}`;

/** dropsBy sums up packets by node, and by node and egress port. */
function dropsBy(
  drops: { node?: number | null; egress_port?: number | null; packets?: number }[],
): Map<string, number> {
  const dropped = new Map<string, number>();
  for (const drop of drops) {
    for (const key of [`${drop.node}`, `${drop.node} ${drop.egress_port}`])
      dropped.set(key, (dropped.get(key) ?? 0) + (drop.packets ?? 0));
  }
  return dropped;
}

/** growth returns by how much the packets of each cable, and of its directions, grew per second since an earlier answer. */
export function growth(now: Graph, nowMs: number, before: Graph | undefined, beforeMs: number): Map<string, number> {
  const rates = new Map<string, number>();
  const parts = (graph: Graph | undefined): Carried[] => (graph?.cables ?? []).flatMap((c) => [c, ...c.halves]);
  const old = new Map(parts(before).map((part) => [part.key, part.packets]));
  for (const part of parts(now)) {
    const was = old.get(part.key);
    if (was !== undefined && nowMs > beforeMs && part.packets >= was)
      rates.set(part.key, ((part.packets - was) * 1000) / (nowMs - beforeMs));
  }
  return rates;
}

/** markLost marks the directions by which nothing comes although both ends still report, as events say that go on. */
export function markLost(graph: Graph, events: Pick<Event, 'kind' | 'node' | 'to_node'>[]): Graph {
  const lost = new Set(events.filter((e) => e.kind === 'link_lost').map((e) => `${e.node} > ${e.to_node}`));
  for (const cable of graph.cables) {
    for (const half of cable.halves) half.lost = lost.has(half.key);
    cable.lost = cable.halves.some((half) => half.lost);
  }
  return graph;
}

/** overOf are the cables that paths go by. A node that is not known breaks a path. */
export function overOf(paths: { node: number | null }[][]): Set<string> {
  const over = new Set<string>();
  for (const hops of paths)
    hops.slice(1).forEach(({ node }, i) => {
      const from = hops[i]!.node;
      if (from !== null && node !== null) over.add([from, node].toSorted((a, b) => a - b).join(' '));
    });
  return over;
}
