import { get, type Params } from '../../api/client';
import type { Flow, FlowPath, FlowRecord, History, List } from '../../api/types';
import { compact, flowName, flowParams } from '../../lib/format';
import type { Values } from '../../lib/route.svelte';
import { spanParams } from '../../lib/time';
import type { Cable, Moment } from './model';

const shown = 5;
const nowMs = 30_000; // flows of now are those of the last so many ms
const pages = 5; // of 200 flows, at most

/** ofNow says which flows are those of now. */
export const ofNow = `the last ${nowMs / 1000} s`;

/** A Through is a flow, or what flows between two addresses, with the page that shows it. */
export interface Through {
  text: string;
  page: string;
  params: Values;
}

/** flowsOver names the flows with most packets that go through a node or a cable, now or at a moment. */
export async function flowsOver(
  over: number | Cable,
  moment: Moment | undefined,
  signal?: AbortSignal,
): Promise<Through[]> {
  const nodes = typeof over === 'number' ? [over] : [over.a, over.b];
  if (moment) {
    const list = await get<History<'flows', FlowRecord>>(
      'flows',
      {
        since: new Date(moment.at).toISOString(),
        until: new Date(moment.at + moment.ms).toISOString(),
        filter: nodes.map((node) => `node = ${node}`).join(' and '),
        group_by: 'src,dst,protocol',
        order: 'packets',
        limit: shown,
      },
      signal,
    );
    const frame = spanParams({ kind: 'fixed', from: moment.at, to: moment.at + moment.ms });
    return (list.flows ?? []).map((f) => ({
      text: `${f.src} → ${f.dst} ${f.protocol ?? ''}, ${compact(f.packets)} packets`,
      page: 'flows',
      params: { src: f.src, dst: f.dst, protocol: f.protocol, ...frame },
    }));
  }
  const found = await flowsNow(nodes, (params) =>
    get<List<'flows', Flow> & { next_cursor?: string }>('flows', params, signal),
  );
  return found.map((flow) => ({
    text: `${flowName(flow)}, ${compact(flow.packets)} packets in all`,
    page: 'flow',
    params: flowParams(flow),
  }));
}

/** flowsNow asks for flows of which packets were just seen on a path through one node, or from one to the other, those with most packets first. */
export async function flowsNow(
  nodes: number[],
  ask: (params: Params) => Promise<List<'flows', Flow> & { next_cursor?: string }>,
): Promise<Flow[]> {
  const filter = [`last > now-${nowMs / 1000}s`, ...nodes.map((node) => `node = ${node}`)].join(' and ');
  const found: Flow[] = [];
  let cursor = '';
  for (let page = 0; page < pages; page++) {
    const list = await ask({ filter, order: 'packets', limit: 200, cursor });
    const from = Date.parse(list.generated_at) - nowMs;
    // A flow remembers the path before its latest one too, and may pass both nodes without going from one to the other.
    found.push(
      ...(list.flows ?? []).filter((flow) =>
        (flow.paths ?? []).some((path) => Date.parse(path.last) > from && goesBy(path, nodes)),
      ),
    );
    cursor = list.next_cursor ?? '';
    if (!cursor || found.length >= shown) break;
  }
  return found.slice(0, shown);
}

function goesBy(path: FlowPath, nodes: number[]): boolean {
  const ids = (path.hops ?? []).map((hop) => hop.node);
  const [a, b] = nodes as [number, number?];
  return b === undefined
    ? ids.includes(a)
    : ids.some((id, i) => (id === a && ids[i + 1] === b) || (id === b && ids[i + 1] === a));
}
