import type { Event, Incident } from '../../api/types';
import { eventText } from '../../lib/format';

type Part = NonNullable<Incident['events']>[number];

/** A Link is an event of an incident, depth steps after the cause. */
export interface Link {
  event: Part;
  depth: number;
}

/** chainOf puts each event below the one that it follows from, in the order of time. What follows from none that is listed stands alone. */
export function chainOf(events: Part[]): Link[] {
  const known = new Set(events.map((e) => e.id));
  const after = new Map<string, Part[]>();
  for (const e of events) {
    const of = e.of !== undefined && e.of !== e.id && known.has(e.of) ? e.of : '';
    after.set(of, [...(after.get(of) ?? []), e]);
  }
  const chain: Link[] = [];
  const seen = new Set<string>();
  const add = (e: Part, depth: number): void => {
    if (seen.has(e.id)) return;
    seen.add(e.id);
    chain.push({ event: e, depth });
    const next = (after.get(e.id) ?? []).toSorted((a, b) => Date.parse(a.start) - Date.parse(b.start));
    for (const effect of next) add(effect, depth + 1);
  };
  for (const e of after.get('') ?? []) add(e, 0);
  for (const e of events) add(e, 0);
  return chain;
}

/** placedOf is an incident with the place of its first effect that has one, if its cause has none, as an attack. */
export function placedOf(incident: Incident, events: Map<string, Event>): Incident {
  if (incident.node !== undefined) return incident;
  const effect = chainOf(incident.events ?? [])
    .map(({ event }) => events.get(event.id))
    .find((event) => event?.node !== undefined);
  return effect ? { ...incident, node: effect.node, name: effect.name, port: effect.port } : incident;
}

/** rowsOf are the events of an incident as rows of a table, in the order of the chain. */
export const rowsOf = (events: Part[]): string[][] => [
  ['Event', 'Follows from', 'Because', 'Likely only', 'Severity', 'Kind', 'Start', 'End', 'Summary'],
  ...chainOf(events).map(({ event: e }) => [
    e.id,
    e.of ?? '',
    e.because ?? '',
    e.likely ? 'yes' : '',
    e.severity,
    e.kind,
    e.start,
    e.end ?? '',
    eventText(e),
  ]),
];

/** frameOf is the time that an incident takes up, with some room at both ends; what goes on ends now. */
export function frameOf(
  incident: Pick<Incident, 'start' | 'end' | 'events'>,
  nowMs: number,
): { from: number; to: number } {
  const starts = (incident.events ?? []).map((e) => Date.parse(e.start));
  const from = Math.min(Date.parse(incident.start), ...starts);
  const to = Math.max(incident.end ? Date.parse(incident.end) : nowMs, from + 1);
  const room = (to - from) / 20;
  return { from: from - room, to: to + room };
}
