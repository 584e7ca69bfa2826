import { expect, test } from 'vitest';
import type { Distribution } from '../src/api/types';
import { evidence } from '../src/pages/events/evidence';
import {
  addressKey,
  age,
  bytes,
  compact,
  depth,
  depthUnit,
  duration,
  endpoint,
  flowName,
  lossHint,
  lossText,
  number,
  percent,
  quantile,
  typical,
  unitUnknown,
  unknown,
} from '../src/lib/format';

test.each([
  [0, '0 ns'],
  [850, '850 ns'],
  [999.4, '999 ns'],
  [999.9, '1 µs'],
  [12_400, '12.4 µs'],
  [1_240_000, '1.24 ms'],
  [5.2e9, '5.2 s'],
  [-19_172, '−19.2 µs'],
  [null, unknown],
  [undefined, unknown],
])('duration %s', (ns, want) => expect(duration(ns)).toBe(want));

test('the loss of a link has its interval, or why it is not known', () => {
  const loss = { share: 0.0123, lower: 0.004, upper: 0.0312, confidence: 0.95, sent: 1220, lost: 15, method: 'tcp' };
  expect(lossText(loss)).toBe('1.23 % (0.4 % to 3.12 %)');
  expect(lossHint(loss)).toBe('15 of 1,220 packets in the last minute, by tcp; in brackets: 95 % interval');
  const none = { ...loss, share: null, lower: null, upper: null, unknown: 'only UDP crosses it' };
  expect([lossText(none), lossHint(none)]).toEqual([unknown, 'only UDP crosses it']);
  expect(lossText(undefined)).toBe(unknown);
});

test.each([
  [999, '999'],
  [1234, '1.23k'],
  [45_600_000, '45.6M'],
  [null, unknown],
])('compact %s', (n, want) => expect(compact(n)).toBe(want));
test.each([
  [0, '0 B'],
  [501_592, '502 kB'],
  [4_375_000, '4.38 MB'],
])('bytes %s', (n, want) => expect(bytes(n)).toBe(want));

test('a share is cut: 100 % is said only of all', () => {
  expect(percent(1)).toBe('100 %');
  expect(percent(0.999999)).toBe('99.99 %');
  expect(percent(null)).toBe(unknown);
});

test('what is not known is not 0', () =>
  expect([number(null), number(0), number(12_345.67)]).toEqual([unknown, '0', '12,345.7']));

const d = (p50: number, relative_error: number): Distribution => ({
  count: 9,
  min: 1,
  mean: 5,
  max: 9,
  p50,
  p99: 8,
  relative_error,
});
test('a median that is not kept, or is far off, is not shown', () => {
  expect(quantile(d(0, 0), 'p50')).toBeNull();
  expect(typical(d(0, 0))).toBe(5);
  expect(typical(d(4, 0.04))).toBe(4);
  expect(typical(d(4, 3))).toBe(5);
});

test('age', () => {
  const now = Date.parse('2026-11-21T08:00:00Z');
  expect(age('2026-11-21T07:59:58Z', now)).toBe('now');
  expect(age('2026-11-21T07:59:00Z', now)).toBe('60 s ago');
  expect(age('2026-11-21T05:00:00Z', now)).toBe('3 h ago');
  expect(age('2026-11-21T05:00:00Z', null)).toBe(unknown);
});

const flow = {
  src: '10.0.1.1',
  dst: '2001:db8::1',
  src_port: 5001,
  dst_port: 443,
  protocol: 'tcp',
  tunnel: 'vxlan',
  tunnel_id: 5001,
};
test('endpoints as in addresses of the web', () => {
  expect(endpoint(flow, 'dst')).toBe('[2001:db8::1]:443');
  expect(flowName(flow)).toBe('10.0.1.1:5001 → [2001:db8::1]:443 tcp in vxlan 5001');
  expect(endpoint({ ...flow, src_port: 0, dst_port: 0 }, 'src')).toBe('10.0.1.1');
});

test('addresses sort by number', () => {
  const sorted = ['2001:db8::1', '10.0.0.10', '::1', '10.0.0.9'].sort((a, b) =>
    addressKey(a) < addressKey(b) ? -1 : 1,
  );
  expect(sorted).toEqual(['10.0.0.9', '10.0.0.10', '::1', '2001:db8::1']);
});

test.each([
  [271, '1/s', '271 per second'],
  [0.25, '1/s', '0.250 per second'],
  [1500, 'ns', '1.5 µs'],
  [95_768, 'B', '95.8 kB'],
  [3, undefined, '3'],
])('evidence %s %s', (value, unit, want) => expect(evidence(value, unit)).toBe(want));

test.each([
  [50_300, 'bytes', '50.3 kB'],
  [12, 'packets', '12 packets'],
  [1200, 'cells:80', '1,200 cells of 80 B'],
  [1200, 'cells', '1,200 cells'],
  [64, 'unknown', '64 (unit unknown)'],
  [64, undefined, '64 (unit unknown)'],
  [null, 'bytes', '–'],
])('a queue of %s %s is %s', (n, unit, text) => {
  expect(depth(n, unit)).toBe(text);
});

test('above depths it is said once that their unit is not known', () => {
  expect(depth(64, undefined, depthUnit([undefined]) === unitUnknown)).toBe('64');
  expect(depth(64, 'packets', true)).toBe('64 packets');
});

test.each([
  [['bytes', 'bytes'], 'in bytes'],
  [['cells:80'], 'in cells of 80 B'],
  [['bytes', 'packets'], 'in the unit of each node'],
  [['bytes', undefined], 'in the unit of each node'],
  [[undefined, 'unknown'], 'in bytes, cells or packets: the unit is not known'],
  [[], 'in bytes, cells or packets: the unit is not known'],
])('queues of %j are told %s', (units, text) => {
  expect(depthUnit(units)).toBe(text);
});
