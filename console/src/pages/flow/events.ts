import type { Endpoints, Event } from '../../api/types';
import { severityRank } from '../../lib/severity';

/** filterOf selects events at nodes, and those of a flow. */
export function filterOf(flow: Endpoints, nodes: number[]): string {
  const own = `(src = ${flow.src} and dst = ${flow.dst} and src_port = ${flow.src_port} and dst_port = ${flow.dst_port} and protocol = ${flow.protocol})`;
  return nodes.length > 0 ? `node in (${nodes.join(', ')}) or ${own}` : own;
}

/** worstFirst are the events whose time touches the time from from to to, in ms since 1970, each once: the worst first, and then the latest. */
export function worstFirst(events: Event[], from: number, to: number): Event[] {
  const touches = (e: Event): boolean => Date.parse(e.start) <= to && (e.end === null || Date.parse(e.end) >= from);
  return [...new Map(events.map((e) => [e.id, e])).values()]
    .filter(touches)
    .sort((a, b) => severityRank(a.severity) - severityRank(b.severity) || Date.parse(b.start) - Date.parse(a.start));
}
