import type { Drop, Event, NodeHop, TopologyNode } from '../../api/types';

/** Near is what is known of a node now. */
export interface Near {
  /** ms since 1970 */ at: number;
  node: TopologyNode;
  hops: NodeHop[];
  drops: Drop[];
  events: Event[];
}
