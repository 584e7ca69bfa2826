import type { Event } from '../../api/types';
import { href } from '../../lib/route.svelte';

/** viewsOf returns the pages that show what an event is about, with the words of the link. */
export function viewsOf(e: Event): { to: string; title: string }[] {
  const views: { to: string; title: string }[] = [];
  if (e.kind === 'microburst' || e.kind === 'incast') views.push({ to: href('burst', { id: e.id }), title: 'The burst, packet by packet' });
  if (e.reason !== undefined || ['drop_storm', 'blackhole'].includes(e.kind)) views.push({ to: href('drops', { node: e.node }), title: 'Drops there' });
  if (e.kind === 'latency_anomaly') views.push({ to: href('latency', { node: e.node }), title: 'Latency there' });
  if (['report_loss', 'node_restart', 'malformed', 'clock_jump'].includes(e.kind)) views.push({ to: href('collector'), title: 'The collector' });
  if (e.node !== undefined) {
    views.push({ to: href('topology', { node: e.node }), title: 'In the topology' }, { to: href('flows', { node: e.node, order: 'drops' }), title: 'Flows through it' });
  }
  return views;
}
