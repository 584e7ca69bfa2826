import type { Component } from 'svelte';

export interface Page {
  name: string;
  title: string;
  /** fetches the code of the page, which comes when it is opened for the first time */ load: () => Promise<{
    default: Component;
  }>;
  /** the page of the menu that it belongs to */ under?: string;
  /** it can be about a time range */ ranged?: true;
}

/** What explains a page, as a page of the documentation and a heading of it; by default how to use the console. */
export const explains: Record<string, [page: string, heading?: string]> = {
  flows: ['how-to/use-the-console', 'flows'],
  flow: ['how-to/follow-one-flow'],
  latency: ['explanation/clocks'],
  drops: ['reference/drop-reasons'],
  incidents: ['reference/incidents'],
  incident: ['reference/incidents'],
  attacks: ['reference/attacks'],
  attack: ['reference/attacks'],
  events: ['reference/events'],
  event: ['reference/events'],
  burst: ['reference/events', 'microburst'],
  alerts: ['how-to/get-alerts'],
  collector: ['explanation/design', 'the-ledger'],
  inventory: ['how-to/name-ports-and-hosts'],
  reports: ['how-to/use-the-console', 'raw-reports'],
  explore: ['how-to/use-the-console', 'explore'],
  dashboard: ['how-to/use-the-console', 'saved-views-and-dashboards'],
};

/** What the menu lists, in its order, and the pages below. */
export const pages: Page[] = [
  { name: 'overview', title: 'Overview', load: () => import('./Overview.svelte'), ranged: true },
  { name: 'topology', title: 'Topology', load: () => import('./Topology.svelte'), ranged: true },
  { name: 'flows', title: 'Flows', load: () => import('./Flows.svelte'), ranged: true },
  { name: 'latency', title: 'Latency', load: () => import('./Latency.svelte'), ranged: true },
  { name: 'queues', title: 'Queues and bursts', load: () => import('./Queues.svelte'), ranged: true },
  { name: 'drops', title: 'Drops', load: () => import('./Drops.svelte'), ranged: true },
  { name: 'incidents', title: 'Incidents', load: () => import('./Incidents.svelte'), ranged: true },
  { name: 'attacks', title: 'Attacks', load: () => import('./Attacks.svelte'), ranged: true },
  { name: 'events', title: 'Events', load: () => import('./Events.svelte'), ranged: true },
  { name: 'alerts', title: 'Alerts', load: () => import('./Alerts.svelte') },
  { name: 'collector', title: 'Collector', load: () => import('./Collector.svelte'), ranged: true },
  { name: 'explore', title: 'Explore', load: () => import('./Explore.svelte'), ranged: true },
  { name: 'docs', title: 'Docs', load: () => import('./Docs.svelte') },
  { name: 'reports', title: 'Raw reports', load: () => import('./Reports.svelte'), under: 'collector', ranged: true },
  { name: 'dashboard', title: 'Dashboard', load: () => import('./Dashboard.svelte'), under: 'explore', ranged: true },
  { name: 'inventory', title: 'Inventory', load: () => import('./Inventory.svelte'), under: 'topology' },
  { name: 'flow', title: 'Flow', load: () => import('./Flow.svelte'), under: 'flows', ranged: true },
  { name: 'burst', title: 'Burst', load: () => import('./Burst.svelte'), under: 'queues' },
  { name: 'incident', title: 'Incident', load: () => import('./Incident.svelte'), under: 'incidents' },
  { name: 'attack', title: 'Attack', load: () => import('./Attack.svelte'), under: 'attacks' },
  { name: 'event', title: 'Event', load: () => import('./Event.svelte'), under: 'events' },
];
