// Finds a node of the map by a few words: its name or id, or the name or an address of a host behind it.
import type { Behind } from './hosts';
import type { Station } from './model';

/** Place is something that can be found, and the node that it is at. */
export interface Place {
  text: string;
  node: number;
  /** behind it */ host: boolean;
}

/** placesOf are what can be found. */
export const placesOf = (stations: Station[], hosts: Map<number, Behind[]>): Place[] => [
  ...stations.map((s) => ({ text: s.name, node: s.id, host: false })),
  ...[...hosts].flatMap(([node, ports]) =>
    ports.flatMap(({ hosts }) =>
      hosts.flatMap(({ text, addresses }) =>
        [...new Set([text, ...addresses])].map((text) => ({ text, node, host: true })),
      ),
    ),
  ),
];

/** findPlace is the place that a text means: what it is, else what begins with it, else what has it inside. Nodes come first. */
export function findPlace(places: Place[], text: string): Place | undefined {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return undefined;
  const is = (fits: (name: string) => boolean): Place | undefined => places.find((p) => fits(p.text.toLowerCase()));
  return (
    is((name) => name === wanted) ??
    places.find((p) => !p.host && String(p.node) === wanted) ??
    is((name) => name.startsWith(wanted)) ??
    is((name) => name.includes(wanted))
  );
}
