import type { BurstDetail, BurstPoint } from '../../api/types';
import { bytes, duration, flowName, number } from '../../lib/format';

/** sayPacket tells what a packet met, and when to the microsecond after the start of the burst. */
export function sayPacket(burst: BurstDetail, p: BurstPoint): string {
  const at = `${p.at_ns < 0 ? '−' : '+'}${number(Math.round(Math.abs(p.at_ns) / 1000))} µs`;
  const whose = p.flow < 0 ? 'another flow' : flowName(burst.flows?.[p.flow]);
  return `${at}: ${bytes(p.depth)} in front of ${bytes(p.bytes)} of ${whose}, ${p.dropped ? 'dropped' : `${duration(p.extra_ns)} of queueing delay`}`;
}

/** packetRows are the packets that are drawn, as rows of a table. */
export const packetRows = (burst: BurstDetail): string[][] => [
  ['ns after the start', 'In front of it', 'Bytes', 'Queueing delay, ns', 'Flow', 'Fate'],
  ...(burst.timeline ?? []).map((p) => [
    `${p.at_ns}`,
    `${p.depth}`,
    `${p.bytes}`,
    p.dropped ? '' : `${p.extra_ns}`,
    p.flow < 0 ? 'another flow' : flowName(burst.flows?.[p.flow]),
    p.dropped ? 'dropped' : 'sent',
  ]),
];

/** waitOf is a wait of a flow; null if none of its packets was in the queue, since all were dropped. */
export const waitOf = (flow: { packets: number }, ns: number): number | null => (flow.packets > 0 ? ns : null);

/** sayDrawn tells how many of the packets that were seen are in the time line, if not all of them are. */
export function sayDrawn({ samples, timeline }: Pick<BurstDetail, 'samples' | 'timeline'>): string {
  const drawn = timeline?.length ?? 0;
  return drawn > 0 && drawn < samples
    ? `${number(drawn)} of ${number(samples)} packets that were seen are drawn, of each moment the one that met the longest queue; `
    : '';
}
