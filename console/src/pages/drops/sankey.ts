import type { Drop } from '../../api/types';
import { nodeName, words } from '../../lib/format';

export interface Box { key: string; label: string; column: number; packets: number; y: number; height: number }
export interface Band { from: Box; to: Box; packets: number; y0: number; y1: number; height: number }

const gap = 10;
const least = 16; // so that a label fits

/** sankey lines up place, reason and egress of drops in three columns; heights are in proportion to packets, but never too low to read. */
export function sankey(drops: Drop[], height: number): { boxes: Box[]; bands: Band[]; height: number } {
  const boxes = new Map<string, Box>();
  const flows = new Map<string, { from: Box; to: Box; packets: number }>();
  const box = (column: number, label: string, packets: number): Box => {
    const key = `${column} ${label}`;
    const it = boxes.get(key) ?? { key, label, column, packets: 0, y: 0, height: 0 };
    it.packets += packets;
    boxes.set(key, it);
    return it;
  };
  for (const d of drops) {
    const place = nodeName(d.node, d.name);
    const chain = [
      box(0, place, d.packets), box(1, words(d.reason_name), d.packets),
      box(2, d.egress_port === null ? 'no port' : `${place} out ${d.egress_port}`, d.packets),
    ] as const;
    for (const [from, to] of [[chain[0], chain[1]], [chain[1], chain[2]]] as const) {
      const key = `${from.key}>${to.key}`;
      const flow = flows.get(key) ?? { from, to, packets: 0 };
      flow.packets += d.packets;
      flows.set(key, flow);
    }
  }
  const total = drops.reduce((sum, d) => sum + d.packets, 0) || 1;
  let tallest = 0;
  for (const column of [0, 1, 2]) {
    let y = 0;
    for (const b of [...boxes.values()].filter((b) => b.column === column).sort((a, b) => b.packets - a.packets)) {
      b.y = y;
      b.height = Math.max(least, (b.packets / total) * height);
      y += b.height + gap;
    }
    tallest = Math.max(tallest, y - gap);
  }
  const used = new Map<string, number>();
  const bands = [...flows.values()].sort((a, b) => a.from.y - b.from.y || a.to.y - b.to.y).map(({ from, to, packets }) => {
    const part = (b: Box, side: string): { y: number; height: number } => {
      const at = used.get(b.key + side) ?? 0;
      const h = (packets / b.packets) * b.height;
      used.set(b.key + side, at + h);
      return { y: b.y + at, height: h };
    };
    const [a, b] = [part(from, 'out'), part(to, 'in')];
    return { from, to, packets, y0: a.y + a.height / 2, y1: b.y + b.height / 2, height: Math.max(1, Math.min(a.height, b.height)) };
  });
  return { boxes: [...boxes.values()], bands, height: tallest };
}
