// What can be explored: the records of the API of a time range, as docs/reference/api.md describes them.

export interface Subject {
  title: string;
  groups: string[];
  /** what it is grouped by at first */ usual: string[];
  measures: string[];
}

export const subjects: Record<string, Subject> = {
  flows: {
    title: 'flows',
    usual: ['src', 'dst'],
    groups: ['src', 'dst', 'src_port', 'dst_port', 'protocol', 'dscp', 'tunnel_id', 'device', 'path', 'id'],
    measures: [
      'packets',
      'bytes',
      'drops',
      'reports',
      'path_changes',
      'residence_mean_ns',
      'residence_max_ns',
      'residence_min_ns',
      'end_to_end_mean_ns',
    ],
  },
  hops: {
    title: 'hops',
    usual: ['node', 'egress_port'],
    groups: ['node', 'ingress_port', 'egress_port', 'dropped'],
    measures: ['packets', 'latency_p50_ns', 'latency_p99_ns', 'latency_mean_ns', 'latency_max_ns', 'latency_min_ns'],
  },
  paths: {
    title: 'paths',
    usual: ['id'],
    groups: ['id'],
    measures: [
      'packets',
      'residence_p50_ns',
      'residence_p99_ns',
      'residence_mean_ns',
      'residence_max_ns',
      'residence_min_ns',
      'end_to_end_mean_ns',
      'incomplete',
      'clock_errors',
    ],
  },
  queues: {
    title: 'queues',
    usual: ['node', 'egress_port'],
    groups: ['node', 'egress_port', 'queue'],
    measures: ['occupancy_max', 'occupancy_mean', 'samples'],
  },
  links: {
    title: 'links',
    usual: ['from', 'to'],
    groups: ['from', 'from_port', 'to', 'to_port'],
    measures: [
      'packets',
      'delay_p50_ns',
      'delay_p99_ns',
      'delay_mean_ns',
      'delay_max_ns',
      'delay_min_ns',
      'utilization_mean',
      'utilization_max',
      'utilization_samples',
    ],
  },
  drops: {
    title: 'drops',
    usual: ['node', 'reason_name'],
    groups: ['node', 'ingress_port', 'egress_port', 'reason_name', 'reason', 'dst'],
    measures: ['packets'],
  },
  exporters: {
    title: 'exporters',
    usual: ['source', 'node'],
    groups: ['source', 'node', 'hw_id', 'version', 'dialect', 'loss_known'],
    measures: ['reports', 'received', 'lost', 'malformed', 'damaged', 'duplicate', 'reordered', 'restarted'],
  },
};

export const graphs = { lines: 'Lines', stacked: 'Stacked', heat: 'Heat map', sankey: 'Sankey', table: 'Table only' };
export type Graph = keyof typeof graphs;

/** looks says how a graph draws the period that the range is compared with; one that is not over time draws none. */
export const looks: Record<Graph, 'dashed' | 'strip' | undefined> = {
  lines: 'dashed',
  stacked: 'dashed',
  heat: 'strip',
  sankey: undefined,
  table: undefined,
};

/** adds says whether a measure of two groups together is the sum of theirs. */
export const adds = (measure: string): boolean =>
  !measure.endsWith('_ns') && !/^(occupancy|utilization)_(mean|max)$/.test(measure);

/** intervals that can be chosen, in seconds. */
export const intervals: Record<string, number> = {
  '10s': 10,
  '30s': 30,
  '1m': 60,
  '5m': 300,
  '15m': 900,
  '1h': 3600,
  '6h': 21600,
  '24h': 86400,
};

/** intervalFor returns the shortest interval with which a range has at most 120 pieces. */
export const intervalFor = (seconds: number): string =>
  Object.keys(intervals).find((name) => seconds / intervals[name]! <= 120) ?? '24h';
