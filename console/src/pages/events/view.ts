import type { Event } from '../../api/types';
import { flowParams } from '../../lib/format';
import type { Values } from '../../lib/route.svelte';
import { spanParams } from '../../lib/time';

const around = 60_000; // ms before and after an event
const written = 60_000; // ms until all records of a time are there

/**
 * whenOf is the range in which the pages show what an event was about, from a minute before it to a minute after it. What goes on is shown
 * as it is now. What has just ended is followed, since its last records are still to come.
 */
export function whenOf(e: Pick<Event, 'start' | 'end'>, nowMs: number): Values {
  if (e.end === null) return {};
  const [from, to] = [
    Math.floor((Date.parse(e.start) - around) / 1000) * 1000,
    Math.ceil((Date.parse(e.end) + around) / 1000) * 1000,
  ];
  if (to + written > nowMs) return { ...spanParams({ kind: 'last', ms: Math.max(1000, nowMs - from) }), until: '' };
  return spanParams({ kind: 'fixed', from, to });
}

/** A View is a page that shows what an event is about, with the words of the link. */
export interface View {
  title: string;
  page: string;
  params: Values;
}

/** viewsOf returns the views of an event. when is the time range of the pages. */
export function viewsOf(e: Event, when: Values): View[] {
  const views: View[] = [];
  const link = e.node !== undefined && e.to_node !== undefined;
  if (e.kind === 'microburst' || e.kind === 'incast') {
    views.push(
      { title: 'The burst, packet by packet', page: 'burst', params: { id: e.id } },
      { title: 'Queues there', page: 'queues', params: { node: e.node, ...when } },
    );
  }
  if (e.reason !== undefined || ['drop_storm', 'blackhole'].includes(e.kind)) {
    views.push({
      title: 'Drops there',
      page: 'drops',
      params: {
        node: e.name ?? e.node,
        reason: e.reason_name ?? e.reason,
        filter: e.port === undefined ? '' : `egress_port = ${e.port}`,
        ...when,
      },
    });
  }
  if (e.kind === 'latency_anomaly') {
    const of =
      e.to_node !== undefined
        ? { of: 'links', from: e.node, out: e.port, to: e.to_node, in: e.to_port }
        : { of: 'hops', node: e.node, out: e.port };
    views.push({ title: 'Latency there', page: 'latency', params: { ...of, ...when } });
  }
  if (e.kind === 'path_change' && e.flow)
    views.push({ title: 'Paths of one of the flows', page: 'flow', params: { ...flowParams(e.flow), ...when } });
  if (['report_loss', 'node_restart', 'malformed', 'clock_jump'].includes(e.kind))
    views.push({ title: 'The collector', page: 'collector', params: when });
  if (e.node !== undefined) {
    const middle =
      e.end !== null && when.since ? new Date((Date.parse(e.start) + Date.parse(e.end)) / 2).toISOString() : '';
    const chosen =
      link && e.kind !== 'clock_jump'
        ? { link: [e.node, e.to_node!].sort((a, b) => a - b).join(' ') }
        : { node: e.node };
    views.push(
      { title: 'In the topology', page: 'topology', params: { ...chosen, at: middle, ...when } },
      { title: 'Flows through it', page: 'flows', params: { node: e.node, order: 'drops', ...when } },
    );
  }
  return views;
}
