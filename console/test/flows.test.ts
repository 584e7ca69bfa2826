import { expect, test } from 'vitest';
import { grouped, network, ofFlow, ofRecord, type FlowRow } from '../src/pages/flows/rows';

const row = (over: Partial<FlowRow>): FlowRow => ({
  id: '1',
  src: '10.0.0.1',
  dst: '10.0.1.1',
  src_port: 1,
  dst_port: 443,
  protocol: 'tcp',
  flows: 1,
  packets: 0,
  bytes: 0,
  drops: 0,
  reports: 0,
  residence: null,
  residenceMax: null,
  endToEnd: null,
  path: '',
  changes: null,
  dscp: null,
  last: null,
  ...over,
});

test.each([
  ['10.0.3.4', '10.0.3.0/24'],
  ['2001:db8::1', '2001:db8::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['fe80::1:2:3:4', 'fe80::/64'],
  ['::1', '0::/64'],
])('the network of %s', (ip, want) => expect(network(ip)).toBe(want));

test('a mean of a group is that of its packets, and what nobody knows does not count', () => {
  const groups = grouped(
    [
      row({
        id: 'a',
        packets: 30,
        bytes: 300,
        residence: 100,
        residenceMax: 500,
        last: '2026-11-21T09:00:00Z',
        changes: 1,
      }),
      row({
        id: 'b',
        packets: 10,
        bytes: 100,
        drops: 2,
        residence: 500,
        residenceMax: 700,
        last: '2026-11-21T09:00:05Z',
        changes: 2,
      }),
      row({ id: 'c', packets: 60, bytes: 600 }),
      row({ id: 'd', dst: '10.0.2.1', packets: 500 }),
    ],
    'dst',
  );
  expect(
    groups.map((g) => [g.group, g.flows, g.packets, g.bytes, g.drops, g.residence, g.residenceMax, g.changes, g.last]),
  ).toEqual([
    ['10.0.2.1', 1, 500, 0, 0, null, null, null, null],
    ['10.0.1.1', 3, 100, 1000, 2, 200, 700, 3, '2026-11-21T09:00:05Z'],
  ]);
  expect(grouped([row({})], '')).toHaveLength(1);
});

test('a flow of now and its record of a time range show the same', () => {
  const ends = { src: '10.0.0.1', dst: '10.0.1.1', src_port: 5, dst_port: 53, protocol: 'udp' };
  const dist = { count: 4, min: 1, mean: 20, max: 90, p50: 0, p99: 0, relative_error: 0 };
  const now = ofFlow({
    ...ends,
    id: 'x',
    dscp: 0,
    first: '',
    last: 'l',
    reports: 4,
    packets: 4,
    bytes: 40,
    drops: 1,
    residence_ns: dist,
    paths: null,
    path_changes: 0,
  });
  const record = {
    ...ends,
    id: 'x',
    packets: 4,
    bytes: 40,
    drops: 1,
    reports: 4,
    path_changes: 0,
    residence_mean_ns: 20,
    residence_max_ns: 90,
  };
  const then = ofRecord(record, 2);
  expect(then).toMatchObject({ pps: 2, bps: 160 });
  expect({ ...then, last: 'l', dscp: 0, pps: null, bps: null }).toEqual(now);
});
