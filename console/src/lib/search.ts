// What one may be looking for by a few words: pages, nodes, links, ports, incidents, addresses, and whatever has an id.
import type { Flow, Incident, Inventory, Topology } from '../api/types';
import { flowName, nodeName } from './format';
import type { Values } from './route.svelte';

/** A Hit is one of the things that were meant, and the page that shows it. */
export interface Hit {
  kind: 'page' | 'node' | 'port' | 'host' | 'link' | 'incident' | 'address' | 'flow' | 'event' | 'burst' | 'view';
  text: string;
  page: string;
  params?: Values;
}

/** hitsOfPages are the pages that need no object. */
export const hitsOfPages = (pages: { name: string; title: string; under?: string }[]): Hit[] =>
  pages
    .filter((p) => !p.under || ['inventory', 'reports'].includes(p.name))
    .map((p) => ({ kind: 'page', text: p.title, page: p.name }));

/** hitsOfInventory are nodes, ports with what is behind them, and hosts. */
export const hitsOfInventory = ({ nodes, hosts }: Pick<Inventory, 'nodes' | 'hosts'>): Hit[] => [
  ...(nodes ?? []).map((n): Hit => ({
    kind: 'node',
    text: [nodeName(n.node, n.name), n.role, n.site].filter(Boolean).join(', '),
    page: 'topology',
    params: { node: n.node },
  })),
  ...(nodes ?? []).flatMap((n) =>
    (n.ports ?? []).map((p): Hit => ({
      kind: 'port',
      text: `${nodeName(n.node, n.name)} ${p.name || `port ${p.port}`}${p.to ? ` → ${p.to}` : ''}`,
      page: 'queues',
      params: { node: n.node, filter: `egress_port = ${p.port}` },
    })),
  ),
  ...(hosts ?? []).map((h): Hit => ({
    kind: 'host',
    text: `${h.name} ${h.prefix.replace(/\/(32|128)$/, '')}`,
    page: 'flows',
    params: { filter: `src in ${h.prefix} or dst in ${h.prefix}` },
  })),
];

/** hitsOfLinks are links, of which both directions are one. */
export function hitsOfLinks({ links }: Pick<Topology, 'links'>): Hit[] {
  const cables = new Map<string, Hit>();
  for (const link of links ?? []) {
    const key = [link.from, link.to].toSorted((a, b) => a - b).join(' ');
    const [from, to] = [nodeName(link.from, link.from_name), nodeName(link.to, link.to_name)];
    if (!cables.has(key))
      cables.set(key, { kind: 'link', text: `${from} – ${to}`, page: 'topology', params: { link: key } });
  }
  return [...cables.values()];
}

/** hitsOfIncidents are what broke, the latest first. */
export const hitsOfIncidents = (incidents: Incident[]): Hit[] =>
  incidents.map((i) => ({ kind: 'incident', text: i.text, page: 'incident', params: { id: i.id } }));

/** hitOfFlow is a flow. */
export const hitOfFlow = (flow: Flow): Hit => ({
  kind: 'flow',
  text: flowName(flow),
  page: 'flow',
  params: { id: flow.id },
});

/** isAddress reports whether text is an IP address or a prefix, as far as a browser can tell. */
export function isAddress(text: string): boolean {
  const [ip = '', bits] = text.split('/', 2);
  if (bits !== undefined && !/^\d{1,3}$/.test(bits)) return false;
  if (ip.includes(':')) return /^[0-9a-f:.]{2,}$/i.test(ip);
  const octets = ip.split('.');
  return octets.length === 4 && octets.every((o) => /^\d{1,3}$/.test(o) && Number(o) < 256);
}

/** isId reports whether text is an id of a flow, an event, an incident or a burst: 16 hexadecimal digits. */
export const isId = (text: string): boolean => /^[0-9a-f]{16}$/.test(text);

/** hitsOfAddress are what there is to see of an address or a prefix. */
export function hitsOfAddress(address: string): Hit[] {
  const either = `src in ${address} or dst in ${address}`;
  return [
    { kind: 'address', text: `Flows from or to ${address}`, page: 'flows', params: { filter: either } },
    { kind: 'address', text: `Events about flows from or to ${address}`, page: 'events', params: { filter: either } },
  ];
}

/** best returns those that have all words, in the order of how well they fit: a word that begins the text, one that begins a word, one inside. */
export function best(hits: Hit[], text: string, most: number): Hit[] {
  const wanted = text.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = (hit: Hit): number => {
    const of = `${hit.text} ${hit.kind}`.toLowerCase();
    let sum = 0;
    for (const word of wanted) {
      const at = of.indexOf(word);
      if (at < 0) return Infinity;
      sum += at === 0 ? 0 : /\w/.test(of[at - 1]!) ? 2 : 1;
    }
    return sum;
  };
  return hits
    .map((hit, place) => ({ hit, place, rank: rank(hit) }))
    .filter((h) => h.rank < Infinity)
    .toSorted((a, b) => a.rank - b.rank || a.hit.text.length - b.hit.text.length || a.place - b.place)
    .slice(0, most)
    .map((h) => h.hit);
}
