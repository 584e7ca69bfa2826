import { expect, test } from 'vitest';
import type { Drop, Event, PathHop, PathTime } from '../src/api/types';
import { lanesOf } from '../src/pages/flow/band';
import { filterOf, worstFirst } from '../src/pages/flow/events';
import { lossesOf, nodesOf, reasonsNow, reasonsOf } from '../src/pages/flow/lost';

// A flow that lost 850 packets in a blackhole at spine1 (node 4), and 17 at leaf1 (node 1) when its link went down, as a server told it.
const at = (clock: string): number => Date.parse(`2026-11-21T${clock}Z`);
const time = (
  id: string,
  from: string,
  to: string,
  packets: number,
  drops: number | undefined,
  hops: PathHop[],
): PathTime => ({
  id,
  start: `2026-11-21T${from}Z`,
  end: `2026-11-21T${to}Z`,
  packets,
  ...(drops === undefined ? {} : { drops }),
  hops,
});
const hop = (node: number, ingress_port: number, egress_port: number, more: Partial<PathHop> = {}): PathHop => ({
  node,
  ingress_port,
  egress_port,
  ...more,
});
const hole = [hop(1, 4, 1), hop(4, 1, 0, { dropped: true })];
const down = [hop(1, 4, 1, { dropped: true })];
const through = [hop(1, 4, 1), hop(4, 1, 2), hop(2, 1, 3)];
const times = [
  time('a', '20:32:10', '20:33:20', 106, 0, through),
  time('b', '20:32:20', '20:32:40', 850, 850, hole),
  time('c', '20:32:50', '20:33:00', 17, 17, down),
];

test('drops have place and time, also when the tables do not remember their path', () => {
  const losses = lossesOf(
    lanesOf(times),
    [{ id: 'a', hops: through, packets: 106, first: times[0]!.start, last: times[0]!.end }],
    20_000,
  );
  expect(losses.map((l) => [l.hop?.node, l.packets, l.from, l.to])).toEqual([
    [1, 17, at('20:32:50'), at('20:33:00')],
    [4, 850, at('20:32:20'), at('20:32:40')],
  ]);
  expect(nodesOf(times)).toEqual([1, 2, 4]);
});

test('what is not written yet is in the tables, and is told once', () => {
  const path = (packets: number, from: string, to: string) => [
    { id: 'b', hops: hole, packets, first: `2026-11-21T${from}Z`, last: `2026-11-21T${to}Z` },
  ];
  const of = (lanes: PathTime[], paths: ReturnType<typeof path>) =>
    lossesOf(lanesOf(lanes), paths, 20_000).map((l) => [l.packets, l.from, l.to]);
  expect(of([], path(9, '20:32:20', '20:32:29'))).toEqual([[9, at('20:32:20'), at('20:32:29')]]); // nothing is
  expect(of([times[1]!], path(850, '20:32:21', '20:32:36'))).toEqual([[850, at('20:32:20'), at('20:32:40')]]); // all of it is
  expect(of([times[1]!], path(1900, '20:32:21', '20:33:30'))).toEqual([[1900, at('20:32:20'), at('20:33:30')]]); // its beginning is
  expect(of([times[1]!], path(5, '20:40:00', '20:40:05'))).toEqual([
    [5, at('20:40:00'), at('20:40:05')],
    [850, at('20:32:20'), at('20:32:40')],
  ]); // another time
  // A server without a store tells of no drops beside its packets.
  expect(of([time('b', '20:32:20', '20:32:30', 9, undefined, hole)], path(9, '20:32:20', '20:32:30'))).toEqual([
    [9, at('20:32:20'), at('20:32:30')],
  ]);
});

test('the reason is that of drops at the place and in the time', () => {
  const [late, early] = lossesOf(lanesOf(times), [], 0);
  const record = (
    clock: string,
    node: number,
    ingress_port: number,
    egress_port: number,
    reason: number,
    reason_name: string,
    packets: number,
  ) => ({ start: `2026-11-21T${clock}Z`, node, ingress_port, egress_port, reason, reason_name, packets });
  const records = [
    record('20:32:20', 4, 1, 0, 29, 'routing_miss', 18),
    record('20:32:30', 4, 1, 0, 71, 'tail_drop', 2),
    record('20:32:30', 4, 3, 0, 5, 'of_another_port', 90),
    record('20:32:50', 1, 4, 1, 200, 'port_down', 17),
    record('20:31:50', 4, 1, 0, 6, 'before', 99),
    record('20:32:50', 4, 1, 0, 7, 'after', 99),
  ];
  expect(reasonsOf(early!, records, 10_000).map((r) => r.name)).toEqual(['routing_miss', 'tail_drop']);
  expect(reasonsOf(late!, records, 10_000)).toEqual([{ reason: 200, name: 'port_down' }]);
  const now = {
    ...record('', 4, 1, 0, 29, 'routing_miss', 300),
    first: '2026-11-21T20:32:25Z',
    last: '2026-11-21T20:32:36Z',
    to: [{ prefix: '172.16.0.0/24', packets: 200 }],
  } as unknown as Drop;
  expect(reasonsNow(early!, [now], '172.16.0.3')).toEqual([{ reason: 29, name: 'routing_miss' }]);
  expect(reasonsNow(early!, [now], '10.0.0.3')).toEqual([]); // on the way to others
  expect(reasonsNow(late!, [now], '172.16.0.3')).toEqual([]); // at another place
});

test('events of the time of a flow, the worst first', () => {
  const event = (id: string, severity: string, from: string, to: string | null) =>
    ({ id, severity, start: `2026-11-21T${from}Z`, end: to && `2026-11-21T${to}Z` }) as Event;
  const list = [
    event('new', 'info', '20:32:51', null),
    event('lost', 'warning', '20:32:50', '20:33:01'),
    event('storm', 'critical', '20:32:26', '20:32:36'),
    event('storm', 'critical', '20:32:26', '20:32:36'),
    event('hole', 'critical', '20:32:28', '20:32:36'),
    event('before', 'critical', '20:20:00', '20:21:00'),
    event('goes on', 'warning', '20:20:00', null),
    event('after', 'critical', '20:50:00', null),
  ];
  expect(worstFirst(list, at('20:32:10'), at('20:34:00')).map((e) => e.id)).toEqual([
    'hole',
    'storm',
    'lost',
    'goes on',
    'new',
  ]);
  const flow = { src: '10.0.0.1', dst: '10.0.0.2', src_port: 1, dst_port: 2, protocol: 'udp' };
  const own = '(src = 10.0.0.1 and dst = 10.0.0.2 and src_port = 1 and dst_port = 2 and protocol = udp)';
  expect([filterOf(flow, []), filterOf(flow, [1, 4])]).toEqual([own, `node in (1, 4) or ${own}`]);
});
