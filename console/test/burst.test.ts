import { expect, test } from 'vitest';
import type { BurstDetail, BurstPoint } from '../src/api/types';
import { nearest } from '../src/lib/cursor.svelte';
import { after } from '../src/lib/time';
import { sayDrawn, sayPacket, waitOf } from '../src/pages/burst/packets';

const at = (...ns: number[]): BurstPoint[] =>
  ns.map((at_ns) => ({ at_ns, depth: 1500, bytes: 500, flow: 0, extra_ns: 12_400 }));

test('the point that is nearest to a place', () => {
  const points = [-10, 0, 100, 110];
  expect([-99, -6, -4, 49, 51, 104, 106, 999].map((ns) => nearest(points, ns))).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
  expect([nearest([], 5), nearest(points, null)]).toEqual([-1, -1]);
});

test('a packet is told to the microsecond', () => {
  const burst = {
    flows: [{ src: '10.0.0.1', dst: '10.0.0.2', src_port: 1, dst_port: 2, protocol: 'udp' }],
  } as unknown as BurstDetail;
  const [p] = at(1_240_153_499);
  expect(sayPacket(burst, p!)).toBe(
    '+1,240,153 µs: 1.5 kB in front of 500 B of 10.0.0.1:1 → 10.0.0.2:2 udp, 12.4 µs of queueing delay',
  );
  expect(sayPacket(burst, { ...p!, at_ns: -1500, flow: -1, dropped: true })).toBe(
    '−2 µs: 1.5 kB in front of 500 B of another flow, dropped',
  );
});

test('a time keeps its nanoseconds', () => {
  expect(after('2026-11-21T16:10:12.389038993Z', 5_208_514_234)).toBe('2026-11-21T16:10:17.597553227Z');
  expect(after('2026-11-21T16:10:12.3Z', -300_000_001)).toBe('2026-11-21T16:10:11.999999999Z');
  expect(after('2026-12-31T23:59:59Z', 1e9)).toBe('2027-01-01T00:00:00.000000000Z');
});

test('a flow whose packets were all dropped did not wait', () =>
  expect([waitOf({ packets: 0 }, 0), waitOf({ packets: 1 }, 0), waitOf({ packets: 3 }, 70)]).toEqual([null, 0, 70]));

test('a time line says how many packets it leaves out', () => {
  expect(sayDrawn({ samples: 19_318, timeline: at(1, 2, 3) })).toBe(
    '3 of 19,318 packets that were seen are drawn, of each moment the one that met the longest queue; ',
  );
  expect([sayDrawn({ samples: 3, timeline: at(1, 2, 3) }), sayDrawn({ samples: 9, timeline: null })]).toEqual(['', '']); // all; none: it comes from the store
});
