// What is different from another period of the same length: figures of places that are at least twofold what they were, or half.
import type { Params } from '../../api/client';
import type {
  DropRecord,
  FlowRecord,
  History,
  HopRecord,
  Incident,
  LinkRecord,
  List,
  QueueRecord,
} from '../../api/types';
import { bits, compact, depth, duration, nodeName, words } from '../../lib/format';
import type { Values } from '../../lib/route.svelte';
import type { Ask } from './ask';

/** A Figure is what was measured at a place; value is 0 where nothing was. */
export interface Figure {
  where: string;
  value: number;
  text: (value: number) => string;
  /** the page that has more: its name and parameters */ to: [page: string, params: Values];
}

export interface Change extends Omit<Figure, 'value'> {
  what: string;
  now: number;
  before: number;
}

/** How many a kind has at most, and which share of the largest of them a difference has at least. */
const [most, least] = [4, 0.01];
/** How many items of a list are compared. */
const compared = 1000;

/**
 * changesOf pairs the figures of two periods by their place, the largest difference first. A list that is not whole has what is
 * largest in it: of what it has not, nobody knows.
 */
export function changesOf(what: string, now: Figure[], before: Figure[], whole = compared): Change[] {
  const places = new Map([...before, ...now].map((figure) => [figure.where, figure]));
  const valueOf = (list: Figure[]): ((where: string) => number | undefined) => {
    const values = new Map(list.map((figure) => [figure.where, figure.value]));
    return (where) => values.get(where) ?? (list.length < whole ? 0 : undefined);
  };
  const [here, there] = [valueOf(now), valueOf(before)];
  const all = [...places].flatMap(([where, { text, to }]): Change[] => {
    const [a, b] = [here(where), there(where)];
    return a === undefined || b === undefined || Math.max(a, b) < 2 * Math.min(a, b) || a === b
      ? []
      : [{ what, where, text, to, now: a, before: b }];
  });
  const size = (c: Change): number => Math.abs(c.now - c.before);
  const largest = Math.max(...all.map(size));
  return all
    .filter((c) => size(c) >= least * largest)
    .sort((a, b) => size(b) - size(a))
    .slice(0, most);
}

/** changeText says by how much a figure is another one. */
export function changeText({ now, before }: { now: number; before: number }): string {
  if (before === 0) return 'new';
  if (now === 0) return 'gone';
  return now > before ? `× ${compact(now / before)}` : `÷ ${compact(before / now)}`;
}

const place = (node: number | undefined, name: string | undefined, egress: number | undefined): string =>
  `${nodeName(node, name)}${egress === undefined ? '' : ` out ${egress}`}`;

/** compare asks for both periods, now and the one before, each of so many seconds. span is the range of the links, if it is not that of the page. */
export async function compare(ask: Ask, now: Params, before: Params, seconds: number, span: Values): Promise<Change[]> {
  const list = async <T>(path: string, of: Params, more: Params, figure: (item: T) => Figure): Promise<Figure[]> =>
    ((await ask<History<string, T>>(path, { ...of, ...more, limit: compared }))[path] ?? []).map(figure);
  const figures = (of: Params): Promise<Figure[][]> =>
    Promise.all([
      ask<List<'incidents', Incident>>('incidents', { ...of, filter: 'severity >= warning', limit: 1 }).then(
        ({ total }): Figure[] => [
          { where: 'warning or critical', value: total, text: compact, to: ['incidents', span] },
        ],
      ),
      list<DropRecord>('drops', of, { group_by: 'node,egress_port,reason_name', order: 'packets' }, (d) => ({
        where: `${place(d.node, d.name, d.egress_port)}: ${words(d.reason_name ?? 'unknown reason')}`,
        value: d.packets ?? 0,
        text: compact,
        to: ['drops', { node: d.name ?? d.node, reason: d.reason_name, ...span }],
      })),
      list<HopRecord>('hops', of, { group_by: 'node,egress_port', order: 'latency_p99_ns' }, (h) => ({
        where: place(h.node, h.name, h.egress_port),
        value: h.latency_p99_ns ?? 0,
        text: duration,
        to: ['latency', { of: 'hops', node: h.node, out: h.egress_port, ...span }],
      })),
      list<QueueRecord>('queues', of, { order: 'occupancy_max' }, (q) => ({
        where: `${place(q.node, q.name, q.egress_port)}${q.queue ? ` queue ${q.queue}` : ''}`,
        value: q.occupancy_max ?? 0,
        text: (value) => depth(value, q.unit),
        to: ['queues', { node: q.name ?? q.node, ...span }],
      })),
      list<LinkRecord>('links', of, { order: 'packets' }, (l) => ({
        where: `${place(l.from, l.from_name, l.from_port)} → ${nodeName(l.to, l.to_name)}`,
        value: l.packets ?? 0,
        text: compact,
        to: ['topology', { link: [l.from, l.to].sort((a, b) => a! - b!).join(' '), ...span }],
      })),
      list<FlowRecord>('flows', of, { group_by: 'dst', order: 'bytes' }, (f) => ({
        where: f.dst ?? 'unknown',
        value: ((f.bytes ?? 0) * 8) / seconds,
        text: bits,
        to: ['flows', { dst: f.dst, ...span }],
      })),
    ]);
  const kinds = [
    'Incidents',
    'Packets dropped',
    'p99 node latency',
    'Longest queue',
    'Packets over a link',
    'Traffic to a destination',
  ];
  const [here, there] = await Promise.all([figures(now), figures(before)]);
  return kinds.flatMap((kind, i) => changesOf(kind, here[i]!, there[i]!));
}
