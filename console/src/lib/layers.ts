// The places of nodes: those with hosts are the lowest tier, what is one cable away the next, as operators draw leaves and spines.

export interface GraphNode {
  id: number;
  hosts: boolean;
}
export interface GraphLink {
  from: number;
  to: number;
}
export interface Place {
  id: number;
  tier: number;
  x: number;
  y: number;
}

export const columnGap = 150;
export const tierGap = 170;
const lineGap = 90;

/** tiersOf gives each node its distance from the nearest node with hosts. */
export function tiersOf(nodes: GraphNode[], links: GraphLink[]): Map<number, number> {
  const near = neighbours(nodes, links);
  const tiers = new Map<number, number>();
  const start = (from: GraphNode[]): void => {
    const queue = from.map((node) => node.id);
    queue.forEach((id) => tiers.set(id, 0));
    for (const id of queue) {
      // grows while it is walked
      for (const other of near.get(id)!) {
        if (tiers.has(other)) continue;
        tiers.set(other, tiers.get(id)! + 1);
        queue.push(other);
      }
    }
  };
  start(nodes.filter((node) => node.hosts));
  // Parts of the network without hosts begin at their nodes with fewest neighbours.
  for (;;) {
    const left = nodes.filter((node) => !tiers.has(node.id));
    if (left.length === 0) return tiers;
    const fewest = Math.min(...left.map((node) => near.get(node.id)!.size));
    start(left.filter((node) => near.get(node.id)!.size === fewest).slice(0, 1));
  }
}

function neighbours(nodes: GraphNode[], links: GraphLink[]): Map<number, Set<number>> {
  const near = new Map(nodes.map((node) => [node.id, new Set<number>()]));
  for (const { from, to } of links) {
    if (from === to || !near.has(from) || !near.has(to)) continue;
    near.get(from)!.add(to);
    near.get(to)!.add(from);
  }
  return near;
}

/**
 * rowsOf puts the nodes of each tier in order, tier 0 first. It depends on who is connected with whom only, not on counters or the
 * order of its arguments, so that the picture stands still.
 */
export function rowsOf(nodes: GraphNode[], links: GraphLink[]): number[][] {
  const tiers = tiersOf(nodes, links);
  const near = neighbours(nodes, links);
  const rows: number[][] = [];
  for (const node of [...nodes].sort((a, b) => a.id - b.id)) (rows[tiers.get(node.id)!] ??= []).push(node.id);

  const x = new Map<number, number>();
  const spread = (row: number[]): void => row.forEach((id, i) => x.set(id, (i - (row.length - 1) / 2) / row.length));
  rows.forEach(spread);
  const sweep = (row: number[]): void => {
    // the barycentre method: what is connected stands near
    const pull = new Map(
      row.map((id) => {
        const others = [...near.get(id)!].filter((other) => tiers.get(other) !== tiers.get(id));
        return [id, others.length ? others.reduce((sum, other) => sum + x.get(other)!, 0) / others.length : x.get(id)!];
      }),
    );
    row.sort((a, b) => Math.round((pull.get(a)! - pull.get(b)!) * 1e6) || a - b);
    spread(row);
  };
  for (let i = 0; i < 4; i++) {
    rows.slice(1).forEach(sweep);
    rows.slice(0, -1).reverse().forEach(sweep);
  }
  return rows;
}

/**
 * placed gives the nodes of tiers their places, tier 0 lowest, the middle of each tier at x = 0. A tier of more nodes than longest is
 * broken into lines, every other one half a column further, so that cables pass between the nodes of the next.
 */
export function placed(rows: number[][], longest: number): Place[] {
  const lines = rows.map((row) => Math.max(1, Math.ceil(row.length / longest)));
  const perLine = rows.map((row, tier) => Math.ceil(row.length / lines[tier]!));
  const widest = Math.max(0, ...perLine);
  let bottom = 0; // of the tier, upwards is below 0
  return rows.flatMap((row, tier) => {
    const n = perLine[tier]!;
    const gap = Math.min(columnGap * 2.2, Math.max(columnGap, (widest * columnGap) / Math.max(1, n)));
    const base = bottom;
    bottom -= tierGap + (lines[tier]! - 1) * (lineGap + 30); // more lines, more cables between the tiers
    const half = lines[tier]! > 1 ? 0.25 : 0;
    return row.map((id, i) => {
      const line = i % lines[tier]!;
      return {
        id,
        tier,
        x: (Math.floor(i / lines[tier]!) - (n - 1) / 2 + (line % 2 ? half : -half)) * gap,
        y: base - line * lineGap,
      };
    });
  });
}

/** shapeOf says in words what is recognised: leaf and spine if two tiers are connected with each other only. */
export function shapeOf(nodes: GraphNode[], links: GraphLink[]): string {
  const tiers = tiersOf(nodes, links);
  const count = (tier: number): number => [...tiers.values()].filter((t) => t === tier).length;
  const across = links.every(({ from, to }) => tiers.get(from) !== tiers.get(to));
  if (links.length > 0 && across && Math.max(...tiers.values()) === 1 && count(0) >= 2 && count(1) >= 2) {
    return `${count(0)} leaves, ${count(1)} spines`;
  }
  return `${nodes.length} node${nodes.length === 1 ? '' : 's'}`;
}
