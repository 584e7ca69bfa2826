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
import { counted, nodeName, number, percent } from '../../lib/format';
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
  /** used nearly in full, as far as the unit is known */ busy: boolean;
  /** why nobody would notice that packets are lost on the way, of now; '' if somebody would, or it is not known */ blind: string;
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
  /** how full its fullest queue is, from 0 to 1: of its size where that is known, else of the longest that was met there */ filled: number;
  /** the size of a queue of it is known */ sized: boolean;
  /** a queue of it is nearly as long as it may be */ full: boolean;
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

/** highUse is which share of the speed of a port is a warning. */
export const highUse = 0.9;

const fullOf = (unit: string | undefined): number => Number(/^share:(\d+)$/.exec(unit ?? '')?.[1] ?? 0);

/** unitOfAll is the unit of utilization, if all cables of a graph that have one have the same. */
export function unitOfAll(graph: Graph | undefined): string | undefined {
  const units = new Set(graph?.cables.flatMap((c) => c.sides.flatMap((side) => side.told?.unit ?? [])));
  return units.size === 1 ? [...units][0] : undefined;
}

/** Filled says which share of the queues of a port a depth is, null where their size or the unit is not known. */
export type Filled = (
  node: number,
  port: number | null | undefined,
  depth: number | undefined,
  unit: string | undefined,
) => number | null;
const unsized: Filled = () => null;

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

/** Queues are those of nodes: the longest now, of how full the fullest is, and the longest of all times. */
class Queues {
  readonly #units = new Units();
  readonly #longest = new Map<number, number>();
  readonly #now = new Map<number, number>();
  readonly #filled = new Map<number, number>(); // of those whose size is known
  readonly #unsized = new Map<number, number>(); // the longest of the others

  /** add takes a queue of a port that is depth long now, and was most at some time. */
  add(
    node: number,
    { depth, most = 0, unit, share }: { depth?: number; most?: number; unit?: string; share: number | null },
  ): void {
    const raise = (map: Map<number, number>, to: number): unknown => map.set(node, Math.max(map.get(node) ?? 0, to));
    raise(this.#longest, Math.max(most, depth ?? 0));
    this.#units.add(node, unit);
    if (depth === undefined) return;
    raise(this.#now, depth);
    if (share === null) raise(this.#unsized, depth);
    else raise(this.#filled, share);
  }
  /** ever takes what was the longest of a node at some time. */
  ever(node: number, most: number): void {
    this.#longest.set(node, Math.max(this.#longest.get(node) ?? 0, most));
  }
  of(node: number): Pick<Station, 'queue' | 'unit' | 'filled' | 'sized' | 'full'> {
    const [share, longest] = [this.#filled.get(node), this.#longest.get(node) ?? 0];
    return {
      queue: this.#now.get(node) ?? null,
      unit: this.#units.of(node),
      filled: Math.min(1, Math.max(share ?? 0, longest > 0 ? (this.#unsized.get(node) ?? 0) / longest : 0)),
      sized: share !== undefined,
      full: (share ?? 0) >= highUse,
    };
  }
}

/**
 * graphOf joins topology, hops and drops. Links between the same nodes become one cable: packets and drops are added, delay and use
 * are those of the worst. The queue of a node is the longest that the latest packets of its hops met. Drops are those of the last
 * minute; inAll are those since the start.
 */
export function graphOf(
  topology: Topology,
  hops: NodeHop[],
  drops: Drop[],
  inAll: Drop[],
  filled: Filled = unsized,
): Graph {
  const queues = new Queues();
  for (const { node, egress_port: port, queue } of hops) {
    if (!queue) continue;
    const { last: depth, max: most, unit } = queue;
    queues.add(node, { depth, most, unit, share: filled(node, port, depth, unit) });
  }
  const dropped = dropsBy(drops);
  const stations = (topology.nodes ?? []).map((node) => ({
    id: node.id,
    name: nodeName(node.id, node.name),
    hosts: hostsOf(node),
    packets: node.packets,
    ...queues.of(node.id),
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
export function graphAt(
  whole: Topology,
  moment: Moment | undefined,
  inAll: QueueRecord[] = [],
  filled: Filled = unsized,
): Graph {
  const key = (l: Link): string => `${l.from} ${l.from_port} ${l.to} ${l.to_port}`;
  const there = new Map((moment?.topology.links ?? []).map((link) => [key(link), link]));
  const packets = new Map((moment?.topology.nodes ?? []).map((node) => [node.id, node.packets]));
  const dropped = dropsBy(moment?.drops ?? []);
  const queues = new Queues();
  for (const { node, egress_port: port, occupancy_max: depth, unit } of moment?.queues ?? [])
    if (node !== undefined) queues.add(node, { depth, unit, share: filled(node, port, depth, unit) });
  for (const { node, occupancy_max: most } of inAll) if (node !== undefined) queues.ever(node, most ?? 0);
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
    ...queues.of(node.id),
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
  busy: false,
  blind: '',
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
    if (side.loss && side.loss.share == null) part.blind ||= side.loss.unknown ?? 'no packet tells of it';
    const full = fullOf(side.told?.unit);
    if (full && (side.use ?? 0) >= highUse * full) part.busy = true;
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

/** lostAt are the events that tell of a link which was lost at some time between from and to, ms since 1970. */
export const lostAt = <T extends Pick<Event, 'kind' | 'start' | 'end'>>(events: T[], from: number, to: number): T[] =>
  events.filter(
    (e) => e.kind === 'link_lost' && Date.parse(e.start) < to && (e.end == null || Date.parse(e.end) > from),
  );

/** markLost marks the directions by which nothing comes although both ends still report, as events say that go on. */
export function markLost(graph: Graph, events: Pick<Event, 'kind' | 'node' | 'to_node'>[]): Graph {
  const lost = new Set(events.filter((e) => e.kind === 'link_lost').map((e) => `${e.node} > ${e.to_node}`));
  for (const cable of graph.cables) {
    for (const half of cable.halves) half.lost = lost.has(half.key);
    cable.lost = cable.halves.some((half) => half.lost);
  }
  return graph;
}

/** blindText says by how many directions nobody would notice that packets are lost. */
export function blindText({ cables }: Graph): string {
  const halves = cables.flatMap((c) => c.halves).filter((half) => !half.gone);
  return `${halves.filter((half) => half.blind).length} of ${counted(halves.length, 'direction')}`;
}

const mostSaid = 10; // of a kind

/** stateText says in words what a picture shows at once: what is lost, drops packets or is nearly full, and what over marks. */
export function stateText({ stations, cables }: Graph, over?: { cables: Set<string>; what: string }): string {
  const names = new Map(stations.map((s) => [s.id, s.name]));
  const name = (id: number): string => names.get(id) ?? `node ${id}`;
  const list = (title: string, all: string[]): string[] =>
    all.length === 0
      ? []
      : [
          `${title}: ${all.slice(0, mostSaid).join(', ')}${all.length > mostSaid ? ` and ${all.length - mostSaid} more` : ''}`,
        ];
  const halves = cables.flatMap((c) => c.halves);
  const ways = (is: (half: Half) => boolean): string[] =>
    halves.filter(is).map((half) => `${name(half.from)} → ${name(half.to)}`);
  return [
    ...list(
      'lost',
      ways((half) => half.lost),
    ),
    ...list(
      'loses or drops packets',
      ways((half) => half.lossy || half.drops > 0),
    ),
    ...list(
      `${percent(highUse)} used or more`,
      ways((half) => half.busy),
    ),
    ...list(
      'drops at',
      stations.filter((s) => s.drops > 0).map((s) => s.name),
    ),
    ...list(
      over?.what ?? '',
      cables.filter((c) => over?.cables.has(c.key)).map((c) => `${name(c.a)} – ${name(c.b)}`),
    ),
  ].join('; ');
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
