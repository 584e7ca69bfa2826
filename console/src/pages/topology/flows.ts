import { get } from '../../api/client';
import type { Flow, FlowRecord, History, List } from '../../api/types';
import { compact, flowName } from '../../lib/format';
import type { Cable, Moment } from './model';

const shown = 5;

/** flowsOver names the flows with most packets that go through a node or a cable, now or at a moment. */
export async function flowsOver(over: number | Cable, moment: Moment | undefined, signal?: AbortSignal): Promise<string[]> {
  const nodes = typeof over === 'number' ? [over] : [over.a, over.b];
  if (moment) {
    const list = await get<History<'flows', FlowRecord>>('flows', {
      since: new Date(moment.at).toISOString(), until: new Date(moment.at + moment.ms).toISOString(), filter: nodes.map((node) => `node = ${node}`).join(' and '),
      group_by: 'src,dst,protocol', order: 'packets', limit: shown,
    }, signal);
    return (list.flows ?? []).map((f) => `${f.src} → ${f.dst} ${f.protocol ?? ''}, ${compact(f.packets)} packets`);
  }
  const list = await get<List<'flows', Flow>>('flows', { node: nodes[0], order: 'packets', limit: 200 }, signal);
  return (list.flows ?? []).filter((flow) => typeof over === 'number' || goesBy(flow, over)).slice(0, shown).map((flow) => `${flowName(flow)}, ${compact(flow.packets)} packets`);
}

/** goesBy says whether a path of a flow has both ends of a cable one after the other. */
function goesBy(flow: Flow, cable: Cable): boolean {
  return (flow.paths ?? []).some((path) => (path.hops ?? []).some((hop, i) => {
    const next = path.hops![i + 1];
    return next !== undefined && ((hop.node === cable.a && next.node === cable.b) || (hop.node === cable.b && next.node === cable.a));
  }));
}
