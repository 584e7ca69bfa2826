import { address, get, type Params } from '../../api/client';
import { every } from '../../lib/filter';
import { before, shifted } from '../../lib/compare';
import { adds, graphs, intervalFor, subjects, type Graph } from './catalogue';
import { filtersOf } from './groups';

/** A Question is what the address of the page asks. */
export interface Question {
  of: string;
  measure: string;
  by: string[];
  filter: string;
  since: string;
  until: string;
  interval: string;
  graph: Graph;
  top: number;
}

/** A Row is a record of a time range: what it is grouped by, and what was measured. */
export type Row = Record<string, string | number | boolean | null>;

export interface Frame {
  generated_at: string;
  since: string;
  until: string;
  resolution_ns: number;
  next_cursor?: string;
}

export interface Found {
  generated_at: string;
  /** of what is drawn: the totals may come from coarser records */ frame: Frame;
  /** one for each group, the largest first */
  totals: Row[];
  moreTotals: boolean;
  /** one for each group and interval, of those that are drawn at least; none if no graph needs them */
  rows: Row[];
  moreRows: boolean;
  /** one for each interval, of all groups together of which rows has none */
  others: Row[];
  /** of the same groups, in the period that the range is compared with */
  before?: { shiftMs: number; frame: Frame; rows: Row[]; others: Row[] } | null;
}

const most = {
  totals: 1000,
  rows: 50_000,
  page: 10_000,
  /** of an address: proxies often take no more than 4096, and a page adds its cursor */ bytes: 3600,
};

/** questionOf reads parameters, and has the time range with its length; what is missing, or unknown, is as it usually is. */
export function questionOf(
  param: (name: string) => string,
  range: { since?: string; until?: string },
  rangeMs: number,
): Question {
  const of = subjects[param('of')] ? param('of') : 'flows';
  const subject = subjects[of]!;
  const measure = subject.measures.includes(param('measure')) ? param('measure') : subject.measures[0]!;
  const by =
    param('by') === '-'
      ? []
      : param('by')
          .split(',')
          .filter((name) => subject.groups.includes(name));
  return {
    of,
    measure,
    by: by.length > 0 || param('by') === '-' ? by : subject.usual,
    filter: param('filter'),
    since: range.since ?? '',
    until: range.until ?? '',
    interval: param('interval') || intervalFor(rangeMs / 1000),
    graph: (param('graph') in graphs ? param('graph') : 'lines') as Graph,
    top: Number(param('top')) >= 1 ? Number(param('top')) : 8,
  };
}

/** paramsOf returns what the API is asked: with an interval for what is drawn over time, without one for the groups. */
export function paramsOf(q: Question, interval = ''): Params {
  return {
    since: q.since,
    until: q.until,
    filter: q.filter,
    group_by: q.by.join(',') || null,
    ...(interval ? { interval } : { order: q.measure }),
  };
}

/** overTime says whether a graph needs intervals. */
export const overTime = (graph: Graph): boolean => graph !== 'sankey' && graph !== 'table';

/** narrowed is a question about what both filters select. */
const narrowed = (q: Question, filter: string): Question => ({
  ...q,
  filter: every(q.filter, `(${filter})`),
});

/**
 * ask asks for the groups, and then, if a graph needs it, for the intervals of those that are drawn, and of all others together: all
 * intervals of all groups can be more than the store has memory for. They are asked for only if a filter of those that are drawn is too
 * long. It asks page after page and tells how many records there are so far. Of what is drawn over time it asks about the same groups
 * shiftMs earlier, too, if that is not 0.
 */
export async function ask(
  q: Question,
  signal: AbortSignal,
  progress: (rows: number) => void,
  shiftMs = 0,
): Promise<Found> {
  const pages = async (
    params: Params,
    limit: number,
    tell: (rows: number) => void,
  ): Promise<{ frame: Frame; rows: Row[] }> => {
    const rows: Row[] = [];
    let cursor = '';
    for (;;) {
      const answer: Frame & Record<string, unknown> = await get(
        q.of,
        { ...params, limit: Math.min(limit, most.page), cursor },
        signal,
      );
      rows.push(...((answer[q.of] as Row[] | null) ?? []));
      tell(rows.length);
      cursor = answer.next_cursor ?? '';
      if (!cursor || rows.length >= limit) return { frame: answer, rows };
    }
  };
  const totals = await pages(paramsOf(q), most.totals, () => null);
  const found: Found = {
    generated_at: totals.frame.generated_at,
    frame: totals.frame,
    totals: totals.rows,
    moreTotals: !!totals.frame.next_cursor,
    rows: [],
    moreRows: false,
    others: [],
  };
  if (!overTime(q.graph) || totals.rows.length === 0) return found;
  const same = { ...q, since: totals.frame.since, until: totals.frame.until }; // or records that come meanwhile would be in a part only
  const { these, others } = filtersOf(q, totals.rows.slice(0, q.top));
  const paramsFor = (of: Question): [Params, Params] => [
    paramsOf(narrowed(of, these), q.interval),
    paramsOf({ ...narrowed(of, others), by: [] }, q.interval),
  ];
  const all =
    (totals.rows.length <= q.top && !found.moreTotals) ||
    paramsFor(same).some((params) => address(q.of, params).length > most.bytes);
  /** over asks for the intervals of a time range, of all groups at once or of those that are drawn and of the others */
  const over = async (of: Question, together: boolean) => {
    const [drawn, rest] = paramsFor(of);
    const series = await pages(together ? paramsOf(of, q.interval) : drawn, most.rows, progress);
    const left = together ? [] : (await pages(rest, most.rows, (n) => progress(series.rows.length + n))).rows;
    return { frame: series.frame, rows: series.rows, others: left };
  };
  const drawn = await over(same, all);
  const then = await before(shiftMs, shifted(Date.parse(same.since), Date.parse(same.until), shiftMs), (of) =>
    over({ ...same, ...of }, all),
  );
  return { ...found, ...drawn, moreRows: !!drawn.frame.next_cursor, before: then && { ...then, shiftMs } };
}

/** coarse returns by how much what is drawn may be coarser than its pieces, in ns; 0: it is not, or nothing is drawn. */
export const coarse = (found: Found, stepMs: number): number =>
  found.totals.length > 0 && found.frame.resolution_ns > stepMs * 1e6 ? found.frame.resolution_ns : 0;

/** upToNow says whether an answer ends where the records on disk do, and so may be without the latest: those are less than half a minute away. */
export const upToNow = (frame: Frame): boolean => Date.parse(frame.generated_at) - Date.parse(frame.until) < 30_000;

/** additive says whether what is left out of a graph can be one more series of it. */
export const additive = (q: Question): boolean => adds(q.measure);
