import type { Component } from 'svelte';
import Alerts from './Alerts.svelte';
import Burst from './Burst.svelte';
import Collector from './Collector.svelte';
import Docs from './Docs.svelte';
import Drops from './Drops.svelte';
import Event from './Event.svelte';
import Events from './Events.svelte';
import Explore from './Explore.svelte';
import Flow from './Flow.svelte';
import Flows from './Flows.svelte';
import Latency from './Latency.svelte';
import Overview from './Overview.svelte';
import Queues from './Queues.svelte';
import Reports from './Reports.svelte';
import Topology from './Topology.svelte';

export interface Page { name: string; title: string; component: Component; /** the page of the menu that it belongs to */ under?: string; /** it can be about a time range */ ranged?: true }

/** What explains a page, as a page of the documentation and a heading of it; by default how to use the console. */
export const explains: Record<string, [page: string, heading?: string]> = {
  flows: ['how-to/use-the-console', 'flows'], flow: ['how-to/follow-one-flow'], latency: ['explanation/clocks'], drops: ['reference/drop-reasons'],
  events: ['reference/events'], event: ['reference/events'], burst: ['reference/events', 'microburst'], alerts: ['how-to/get-alerts'],
  collector: ['explanation/design', 'the-ledger'], reports: ['how-to/use-the-console', 'raw-reports'], explore: ['how-to/use-the-console', 'explore'],
};

/** What the menu lists, in its order, and the pages below. */
export const pages: Page[] = [
  { name: 'overview', title: 'Overview', component: Overview, ranged: true },
  { name: 'topology', title: 'Topology', component: Topology, ranged: true },
  { name: 'flows', title: 'Flows', component: Flows },
  { name: 'latency', title: 'Latency', component: Latency, ranged: true },
  { name: 'queues', title: 'Queues and bursts', component: Queues, ranged: true },
  { name: 'drops', title: 'Drops', component: Drops, ranged: true },
  { name: 'events', title: 'Events', component: Events },
  { name: 'alerts', title: 'Alerts', component: Alerts },
  { name: 'collector', title: 'Collector', component: Collector },
  { name: 'explore', title: 'Explore', component: Explore },
  { name: 'docs', title: 'Docs', component: Docs },
  { name: 'reports', title: 'Raw reports', component: Reports, under: 'collector' },
  { name: 'flow', title: 'Flow', component: Flow, under: 'flows' },
  { name: 'burst', title: 'Burst', component: Burst, under: 'queues' },
  { name: 'event', title: 'Event', component: Event, under: 'events' },
];
