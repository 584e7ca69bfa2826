import type { Endpoints, Flow, Sample } from '../../api/types';
import { nodeName, typical } from '../../lib/format';
import { withParts, worst } from '../../lib/sample';

/** A FlowRow is a flow of now or of a time range, or a group of flows. What is not known is null. */
export interface FlowRow extends Endpoints {
  id: string;
  /** flows in it */ flows: number;
  packets: number;
  bytes: number;
  /** packets and bits per second, of those that were reported: over the life of the flow, or the time range */ pps:
    number | null;
  bps: number | null;
  drops: number;
  reports: number;
  residence: number | null;
  residenceMax: number | null;
  endToEnd: number | null;
  path: string;
  changes: number | null;
  dscp: number | null;
  last: string | null;
  /** of which packets its times are; undefined: it is not said */ sample: Sample | null | undefined;
  /** what its flows have in common, if it is a group */
  group?: string;
}

/** A record of GET /api/v1/flows with since. */
export interface FlowRecord extends Endpoints {
  id: string;
  packets: number;
  bytes?: number;
  drops?: number;
  reports?: number;
  path_changes?: number;
  residence_mean_ns?: number;
  residence_max_ns?: number;
  end_to_end_mean_ns?: number;
}

const via = (flow: Flow): string =>
  flow.paths?.[0]?.hops
    ? withParts(
        flow.paths[0].hops.map((hop) => (hop.missing ? `? ×${hop.missing}` : nodeName(hop.node, hop.name))),
        flow.paths[0].unknown,
      )
    : '';

/** rates are what there was in some seconds. */
const rates = (f: { packets: number; bytes?: number }, seconds: number): Pick<FlowRow, 'pps' | 'bps'> =>
  seconds > 0 ? { pps: f.packets / seconds, bps: ((f.bytes ?? 0) * 8) / seconds } : { pps: null, bps: null };

export const ofFlow = (f: Flow): FlowRow => ({
  id: f.id,
  src: f.src,
  dst: f.dst,
  src_port: f.src_port,
  dst_port: f.dst_port,
  protocol: f.protocol,
  tunnel: f.tunnel,
  tunnel_id: f.tunnel_id,
  flows: 1,
  packets: f.packets,
  bytes: f.bytes,
  ...rates(f, (Date.parse(f.last) - Date.parse(f.first)) / 1000),
  drops: f.drops,
  reports: f.reports,
  residence: typical(f.residence_ns),
  residenceMax: f.residence_ns?.max ?? null,
  endToEnd: typical(f.end_to_end_ns),
  path: via(f),
  changes: f.path_changes,
  dscp: f.dscp,
  last: f.last,
  sample: f.sample,
});

export const ofRecord = (r: FlowRecord, seconds: number): FlowRow => ({
  id: r.id,
  src: r.src,
  dst: r.dst,
  src_port: r.src_port ?? 0,
  dst_port: r.dst_port ?? 0,
  protocol: r.protocol,
  tunnel_id: r.tunnel_id || undefined,
  tunnel: r.tunnel_id ? 'tunnel' : undefined,
  flows: 1,
  packets: r.packets,
  bytes: r.bytes ?? 0,
  ...rates(r, seconds),
  drops: r.drops ?? 0,
  reports: r.reports ?? 0,
  residence: r.residence_mean_ns ?? null,
  residenceMax: r.residence_max_ns ?? null,
  endToEnd: r.end_to_end_mean_ns ?? null,
  path: '',
  changes: r.path_changes ?? null,
  dscp: null,
  last: null,
  sample: undefined,
});

/** groups are what flows can be put together by; param is the parameter of the page that selects one of them. */
export const groups: Record<string, { title: string; of: (f: FlowRow) => string; param?: string }> = {
  src: { title: 'source', of: (f) => f.src, param: 'src' },
  dst: { title: 'destination', of: (f) => f.dst, param: 'dst' },
  src_net: { title: 'source network', of: (f) => network(f.src), param: 'src' },
  dst_net: { title: 'destination network', of: (f) => network(f.dst), param: 'dst' },
  dst_port: { title: 'destination port', of: (f) => String(f.dst_port), param: 'port' },
  protocol: { title: 'protocol', of: (f) => f.protocol, param: 'protocol' },
  path: { title: 'path', of: (f) => f.path || 'unknown' },
};

/** network is the /24 of an IPv4 address, and the /64 of one of IPv6. */
export function network(ip: string): string {
  if (!ip.includes(':')) return `${ip.split('.').slice(0, 3).join('.')}.0/24`;
  const [head = '', tail] = ip.split('::');
  const words = head ? head.split(':') : [];
  const rest = tail ? tail.split(':') : [];
  const all =
    tail === undefined
      ? words
      : [...words, ...Array<string>(Math.max(0, 8 - words.length - rest.length)).fill('0'), ...rest];
  return `${all
    .slice(0, 4)
    .join(':')
    .replace(/(:0)+$/, '')}::/64`;
}

/** grouped adds up flows that have something in common, the group with most packets first. Means are those of all packets. */
export function grouped(rows: FlowRow[], by: string): FlowRow[] {
  const of = groups[by]?.of;
  if (!of) return rows;
  const sums = new Map<string, FlowRow & { weight: number; travelled: number }>();
  for (const row of rows) {
    const name = of(row);
    let sum = sums.get(name);
    if (!sum) {
      sum = {
        ...row,
        id: name,
        group: name,
        flows: 0,
        packets: 0,
        bytes: 0,
        pps: null,
        bps: null,
        drops: 0,
        reports: 0,
        residence: null,
        residenceMax: null,
        endToEnd: null,
        changes: null,
        dscp: null,
        path: '',
        last: null,
        sample: undefined,
        weight: 0,
        travelled: 0,
      };
      sums.set(name, sum);
    }
    sum.sample = sum.flows++ ? worst([sum.sample, row.sample]) : row.sample;
    sum.packets += row.packets;
    sum.bytes += row.bytes;
    if (row.pps !== null) sum.pps = (sum.pps ?? 0) + row.pps;
    if (row.bps !== null) sum.bps = (sum.bps ?? 0) + row.bps;
    sum.drops += row.drops;
    sum.reports += row.reports;
    [sum.residence, sum.weight] = mean(sum.residence, sum.weight, row.residence, row.packets);
    [sum.endToEnd, sum.travelled] = mean(sum.endToEnd, sum.travelled, row.endToEnd, row.packets);
    sum.residenceMax = largest(sum.residenceMax, row.residenceMax);
    if (row.changes !== null) sum.changes = (sum.changes ?? 0) + row.changes;
    if (row.last !== null && (sum.last === null || row.last > sum.last)) sum.last = row.last;
  }
  return [...sums.values()].sort((a, b) => b.packets - a.packets);
}

function mean(a: number | null, weight: number, b: number | null, more: number): [number | null, number] {
  if (b === null || more === 0) return [a, weight];
  return [((a ?? 0) * weight + b * more) / (weight + more), weight + more];
}

const largest = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.max(a, b);
