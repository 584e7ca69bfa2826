// What the overview asks the records of a time range for.
import type { Params } from '../../api/client';
import type { DropRecord, ExporterRecord, FlowRecord, History, HopRecord, QueueRecord } from '../../api/types';
import { before as beforeOf, shifted } from '../../lib/compare';
import { stepOf, writeLength } from '../../lib/time';
import { covered, inside, refined, series } from './series';

export type Ask = <T>(path: string, params: Params) => Promise<T>;

/** Lines are measures of the pieces of a range; null where nothing is known. */
export interface Lines {
  traffic: (number | null)[];
  drops: (number | null)[];
  latency: (number | null)[];
  reports: (number | null)[];
  lost: (number | null)[];
}

export interface Course {
  generated_at: string;
  from: number;
  to: number;
  /** when the first piece begins, and how long each is */ start: number;
  stepMs: number;
  /** the part of the range that has records */ told: { from: number; to: number } | null;
  lines: Lines;
  before: Lines | null | undefined;
  reports: number;
  packets: number;
  bytes: number;
  dropped: number;
}

type Parts = [
  History<'exporters', ExporterRecord>,
  History<'flows', FlowRecord>,
  History<'drops', DropRecord>,
  History<'hops', HopRecord>,
];

const sum = <T>(list: T[] | null, of: (item: T) => number | undefined): number =>
  (list ?? []).reduce((all, item) => all + (of(item) ?? 0), 0);

/** linesOf puts the records of a range into its pieces; rates are over the part of a piece that has records. */
function linesOf(
  parts: Parts,
  from: number,
  to: number,
  stepMs: number,
  told: { from: number; to: number } | null,
): Lines {
  const [exporters, flows, drops, hops] = parts;
  const put = <T extends { start?: string }>(list: T[] | null, value: (r: T) => number | null): (number | null)[] =>
    series(list ?? [], value, from, to, stepMs);
  const seconds = (start = ''): number => Math.max(1, (told ? inside(Date.parse(start), stepMs, told) : stepMs) / 1000);
  const reports = put(exporters.exporters, (r) => (r.reports ?? 0) / seconds(r.start));
  // Where reports came, what none of them told of did not happen; where none came, nobody knows.
  const known = (values: (number | null)[]): (number | null)[] =>
    values.map((v, i) => v ?? (reports[i] == null ? null : 0));
  return {
    reports,
    traffic: known(put(flows.flows, (r) => ((r.bytes ?? 0) * 8) / seconds(r.start))),
    drops: known(put(drops.drops, (r) => r.packets ?? 0)),
    latency: put(hops.hops, (r) => r.latency_max_ns ?? null),
    lost: put(exporters.exporters, (r) => (r.lost === undefined ? null : Math.max(0, r.lost))),
  };
}

/** courseOf asks how traffic, drops, latency and reports went in a range, and in the period shiftMs before. */
export async function courseOf(ask: Ask, span: Params, lengthMs: number, shiftMs: number): Promise<Course> {
  const stepMs = stepOf(lengthMs, 90, 10_000);
  const pieces = { group_by: null, interval: writeLength(stepMs), limit: 10000 };
  const parts = (of: Params): Promise<Parts> =>
    Promise.all([
      ask<History<'exporters', ExporterRecord>>('exporters', { ...of, ...pieces }),
      ask<History<'flows', FlowRecord>>('flows', { ...of, ...pieces }),
      ask<History<'drops', DropRecord>>('drops', { ...of, ...pieces }),
      ask<History<'hops', HopRecord>>('hops', { ...of, ...pieces }),
    ]);
  const all = await parts(span);
  const [exporters, flows, drops] = all;
  const [from, to] = [Date.parse(exporters.since), Date.parse(exporters.until)];
  const finer = stepOf(stepMs, 720, 10_000);
  const edge = async (a: number, b: number): Promise<{ records: ExporterRecord[]; stepMs: number }> => {
    const edges = { since: new Date(a).toISOString(), until: new Date(b).toISOString() };
    const more = { ...edges, group_by: null, interval: writeLength(finer), limit: 10000 };
    const list = await ask<History<'exporters', ExporterRecord>>('exporters', more);
    return { records: list.exporters ?? [], stepMs: Math.max(finer, (list.resolution_ns ?? 0) / 1e6) };
  };
  const whole = covered(exporters.exporters ?? [], from, to, stepMs);
  const told = finer < stepMs ? await refined(whole, stepMs, edge) : whole;
  const old = await beforeOf(shiftMs, shifted(from, to, shiftMs), parts);
  return {
    generated_at: exporters.generated_at,
    from,
    to,
    start: Math.floor(from / stepMs) * stepMs,
    stepMs,
    told,
    lines: linesOf(all, from, to, stepMs, told),
    before: old && linesOf(old, from - shiftMs, to - shiftMs, stepMs, null),
    reports: sum(exporters.exporters, (r) => r.reports),
    packets: sum(flows.flows, (r) => r.packets),
    bytes: sum(flows.flows, (r) => r.bytes),
    dropped: sum(drops.drops, (r) => r.packets),
  };
}

/** What was slow, full and dropped, at most most of each. */
export interface Worst {
  hops: HopRecord[];
  queues: QueueRecord[];
  drops: DropRecord[];
}

export async function worstOf(ask: Ask, span: Params, most: number): Promise<Worst> {
  const [hops, queues, drops] = await Promise.all([
    ask<History<'hops', HopRecord>>('hops', { ...span, order: 'latency_p99_ns', limit: most }),
    ask<History<'queues', QueueRecord>>('queues', { ...span, order: 'occupancy_max', limit: most }),
    ask<History<'drops', DropRecord>>('drops', { ...span, limit: most }),
  ]);
  return { hops: hops.hops ?? [], queues: queues.queues ?? [], drops: drops.drops ?? [] };
}
