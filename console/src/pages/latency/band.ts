import type { FlowRecord, Heatmap, History } from '../../api/types';

/** bandOf makes of records of flows, one for each piece, what a heat map has, without cells: the store has no distribution of a flow. */
export function bandOf(answer: History<'flows', FlowRecord>, stepMs: number): Heatmap {
  const records = (answer.flows ?? []).filter(
    (r) => r.start && r.residence_max_ns !== undefined && r.residence_max_ns > 0,
  );
  const low = Math.min(...records.map((r) => Math.max(1, r.residence_min_ns ?? 1)));
  const high = Math.max(...records.map((r) => r.residence_max_ns!));
  const [first, last] = [Math.floor(Math.log2(low) * 4), Math.ceil(Math.log2(high) * 4 + 0.01)];
  const bounds = records.length ? Array.from({ length: last - first + 1 }, (_, i) => 2 ** ((first + i) / 4)) : [];
  return {
    generated_at: answer.generated_at,
    since: answer.since,
    until: answer.until,
    resolution_ns: answer.resolution_ns,
    step_ns: stepMs * 1e6,
    bounds,
    times: records.map((r) => r.start!),
    counts: records.map(() => bounds.slice(1).map(() => 0)),
    spread: records.map((r) => ({
      packets: r.packets ?? 0,
      min_ns: r.residence_min_ns ?? 0,
      mean_ns: r.residence_mean_ns ?? 0,
      p50_ns: r.residence_mean_ns ?? 0,
      p99_ns: r.residence_max_ns!,
      max_ns: r.residence_max_ns!,
    })),
  };
}
