import type { Event } from '../../api/types';

/** filterOf selects events of the same kind at the same place as e, in the filter language. */
export function filterOf(e: Event): string {
  const terms = [`kind = ${e.kind}`];
  if (e.node !== undefined) terms.push(`node = ${e.node}`);
  if (e.port !== undefined) terms.push(`egress_port = ${e.port}`);
  if (e.to_node !== undefined) terms.push(`to_node = ${e.to_node}`);
  if (e.source !== undefined) terms.push(`source = ${e.source}`);
  return terms.join(' and ');
}
