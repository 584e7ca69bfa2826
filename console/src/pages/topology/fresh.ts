import type { NodeHop } from '../../api/types';

const queueMs = 10_000; // what a packet met is how long the queue is, until this long after it

/** queuesNow leaves out the occupancies of hops that no packet told of for a while: nobody knows how long those queues are now. */
export const queuesNow = (hops: NodeHop[], nowMs: number): NodeHop[] =>
  hops.map((hop) => (hop.queue?.last !== undefined && nowMs - Date.parse(hop.last) > queueMs ? { ...hop, queue: { ...hop.queue, last: undefined } } : hop));
