// Whose latency is looked at: all of a kind, or one hop, link, path or flow. It is in the address.
import { every, is } from '../../lib/filter';

export type Kind = 'hops' | 'links' | 'paths' | 'flows';
export const kinds: Record<Kind, string> = {
  hops: 'node latency',
  links: 'link latency',
  paths: 'time in all nodes of a path',
  flows: 'flows',
};

/** least is the length of the shortest intervals that there are. */
export const least: Record<Kind, number> = { hops: 1000, links: 10_000, paths: 10_000, flows: 10_000 };

/** examples are filters of the records of each kind. */
export const examples: Record<Kind, string> = {
  hops: 'latency.max > 1ms and egress_port = 2',
  links: 'from = leaf1 or to = leaf1',
  paths: 'packets > 100',
  flows: 'which flows, such as src = 10.0.1.1 and dst = 10.0.2.2',
};

/** subjectFilter selects it, of lists and heat maps. get reads the address. */
export function subjectFilter(kind: Kind, get: (name: string) => string): string {
  const equal = (field: string, name: string): string => (/^\d+$/.test(get(name)) ? `${field} = ${get(name)}` : '');
  const all = (...terms: string[]): string => every(get('filter'), is('node', get('node')), ...terms);
  switch (kind) {
    case 'hops':
      return all(equal('ingress_port', 'in'), equal('egress_port', 'out'));
    case 'links':
      return all(equal('from', 'from'), equal('from_port', 'out'), equal('to', 'to'), equal('to_port', 'in'));
    case 'paths':
      return all(/^[0-9a-f]{16}$/.test(get('path')) ? `id = "${get('path')}"` : '');
    case 'flows':
      return all();
  }
}
