import { expect, test } from 'vitest';
import type { Burst, Drop, Endpoints, FlowPath, Incident, PathHop } from '../src/api/types';
import { hitsOf, packetsTo } from '../src/pages/flow/hits';

const at = (clock: string): string => `2026-11-21T${clock}Z`;
const flow: Endpoints = { src: '10.0.1.1', dst: '10.0.4.1', src_port: 5000, dst_port: 6001, protocol: 'udp' };
const other: Endpoints = { ...flow, src_port: 5001 };
const hop = (node: number, egress_port: number, more: Partial<PathHop> = {}): PathHop => ({
  node,
  ingress_port: 1,
  egress_port,
  ...more,
});
const path = {
  id: 'a',
  first: at('13:00:00'),
  last: at('13:01:00'),
  packets: 10,
  hops: [hop(1, 2), hop(4, 3)],
} as FlowPath;
const burst = (id: string, port: number, peak_delay_ns: number, who: Partial<Burst>): Burst =>
  ({ id, node: 4, port, peak_delay_ns, culprits: [], victims: null, ...who }) as Burst;
const incident = (id: string, severity: string, more: Partial<Incident>): Incident =>
  ({ id, severity, start: at('13:00:30'), end: at('13:00:31'), events: [], ...more }) as Incident;
const drop = (node: number, reason: number, more: Partial<Drop> = {}): Drop =>
  ({
    node,
    reason,
    ingress_port: 1,
    egress_port: 3,
    first: at('12:00:00'),
    last: at('13:00:30'),
    to: [{ prefix: '10.0.4.0/24', packets: 7 }],
    ...more,
  }) as Drop;
const known = {
  bursts: [
    burst('short', 3, 100, { culprits: [{ flow }] as Burst['culprits'] }),
    burst('long', 3, 900, { victims: [{ flow }] as Burst['victims'] }),
    burst('of another', 3, 5000, { culprits: [{ flow: other }, { flow: null }] as Burst['culprits'] }),
    burst('of another port', 2, 5000, { culprits: [{ flow }] as Burst['culprits'] }),
  ],
  incidents: [
    incident('of its burst', 'warning', { node: 9, events: [{ id: 'long' }] as Incident['events'] }),
    incident('there', 'critical', { node: 4, port: 3 }),
    incident('of the whole node, going on', 'warning', { node: 4, end: null }),
    incident('at another port', 'critical', { node: 4, port: 7 }),
    incident('before', 'critical', { node: 4, port: 3, start: at('12:00:00'), end: at('12:59:59') }),
  ],
  drops: [
    drop(4, 1),
    drop(4, 2, { to: [{ prefix: '10.0.5.0/24', packets: 9 }] }),
    drop(4, 3, { egress_port: 8 }),
    drop(4, 4, { last: at('12:59:00') }),
    drop(4, 5, { egress_port: null }),
    drop(1, 6),
    drop(4, 7, { ingress_port: 2 }),
  ],
};

test('what hit a flow at a hop', () => {
  const { bursts, incidents, drops } = hitsOf(flow, path, path.hops![1]!, known);
  expect(bursts.map((b) => b.id)).toEqual(['long', 'short']);
  expect(incidents.map((i) => i.id)).toEqual(['there', 'of its burst', 'of the whole node, going on']);
  expect(drops.map((d) => d.reason)).toEqual([1, 5]);
  expect(packetsTo(drops[0]!, flow.dst)).toBe(7);
});

test('a packet that was dropped has no port out, and a hop that nobody tells of has no hits', () => {
  const ended = hop(4, 0, { dropped: true });
  expect(hitsOf(flow, path, ended, known).drops.map((d) => d.reason)).toEqual([1, 3, 5]);
  const none = hop(0, 0, { node: null, egress_port: null });
  expect(hitsOf(flow, path, none, known)).toEqual({ bursts: [], incidents: [], drops: [] });
});
