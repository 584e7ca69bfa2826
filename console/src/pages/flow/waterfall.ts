import type { Delay, FlowPath, Link, PathHop } from '../../api/types';

/** A Step is a station of a packet's way, or the cable behind it, in the order of the packet. */
export interface Step {
  hop?: PathHop;
  link?: Link | null; // null: there is one, but nobody tells of it
  /** mean time, or null if it is not known */
  ns: number | null;
  /** where its bar begins: the sum of what is known before it */
  startNs: number;
}

/** waterfall lines up the hops of a path and the links between them. Times that are not known take no room. */
export function waterfall(path: FlowPath, links: Link[]): { steps: Step[]; totalNs: number; gaps: number } {
  const hops = path.hops ?? [];
  const steps: Step[] = [];
  let at = 0;
  let gaps = 0;
  const add = (step: Omit<Step, 'startNs'>): void => {
    steps.push({ ...step, startNs: at });
    if (step.ns === null) gaps++;
    at += step.ns ?? 0;
  };
  hops.forEach((hop, i) => {
    add({ hop, ns: hop.latency_ns?.mean ?? null });
    const next = hops[i + 1];
    if (!next) return;
    const link = links.find(
      (l) =>
        l.from === hop.node && l.to === next.node && l.from_port === hop.egress_port && l.to_port === next.ingress_port,
    );
    add({ link: link ?? null, ns: known(link?.delay) });
  });
  return { steps, totalNs: at, gaps };
}

const known = (delay: Delay | null | undefined): number | null => delay?.ns?.mean ?? null;
