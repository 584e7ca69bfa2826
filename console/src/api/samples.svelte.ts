import { worst } from '../lib/sample';
import { get } from './client';
import { live } from './live.svelte';
import type { List, Node, Sample } from './types';

/**
 * samples asks, while the component that calls it exists, which packets the nodes tell of. Records of the past do not say it: it is how
 * nodes are set. known says that the answer is there, or does not come; of(nodes) is that of figures of these nodes together, or of
 * all nodes.
 */
export function samples(): {
  readonly known: boolean;
  of: (nodes?: (number | null | undefined)[]) => Sample | null | undefined;
} {
  const answer = live(() => (signal) => get<List<'nodes', Node>>('nodes', { limit: 10000 }, signal), 60_000);
  const all = $derived(answer.data?.nodes ?? []);
  return {
    get known() {
      return answer.data !== undefined || answer.error !== undefined;
    },
    of: (nodes) => worst(all.filter((n) => !nodes?.length || nodes.includes(n.id)).map((n) => n.sample)),
  };
}
