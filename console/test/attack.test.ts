import { expect, test } from 'vitest';
import { marksOf, stepsOf } from '../src/pages/attack/overtime';
import { bits } from '../src/lib/format';
import { adviceOf, signText, stateText, targetText, through } from '../src/pages/attack/words';

const at = (second: number): string => new Date(second * 1000).toISOString();
const point = (second: number, ms: number, packets: number, filtered = 0) => ({
  at: at(second),
  duration_ns: ms * 1e6,
  packets,
  bytes: packets * 500,
  filtered_packets: filtered,
});

test('rates of an attack are of the time of each piece, and filters are marked where they first drop', () => {
  const history = [point(10, 500, 1000), point(10.5, 1000, 2000, 500), point(11.5, 2000, 400, 400), point(13.5, 0, 5)];
  expect(stepsOf(history)).toEqual([
    { from: 10_000, to: 10_500, all: 2000, filtered: 0 },
    { from: 10_500, to: 11_500, all: 2000, filtered: 500 },
    { from: 11_500, to: 13_500, all: 200, filtered: 200 },
  ]);
  expect(marksOf({ begin: at(10.2), end: null, history })).toEqual([
    { at: 10_200, text: 'began' },
    { at: 10_500, text: 'filters drop' },
  ]);
  expect(marksOf({ begin: at(10.2), end: at(13), history: [] }).map((m) => m.text)).toEqual(['began', 'ended']);
});

test('what is said of an attack', () => {
  expect([bits(16_100_000), bits(950), bits(null)]).toEqual(['16.1 Mbit/s', '950 bit/s', '–']);
  expect(targetText({ target: '192.0.2.0', prefix: '192.0.2.0/24' })).toBe('192.0.2.0/24');
  expect(targetText({ target: '192.0.2.80', port: 53 })).toBe('192.0.2.80 port 53');
  expect(signText({ name: 'answered', value: 0.0061 })).toContain('0.61 %');
  expect(signText({ name: 'udp', value: 0.993 })).toBe('99.3 % of the packets are udp');
  expect(signText({ name: 'usual', value: 12, unit: 'packets/s' })).toBe('usual here: 12 packets a second');
  expect(signText({ name: 'partly_reported', value: 1 })).toContain('some of its packets only');
  expect(through({ pps: 200, effectiveness: 0.75, filtered_packets: 9 })).toBe(50);
  expect(through({ pps: 200, filtered_packets: 0 })).toBe(200);
  expect(through({ pps: 200, filtered_packets: 9 })).toBe(undefined);
  expect(stateText({ state: 'active', pps: 200, filtered_packets: 9 })).toContain('not known');
  expect(stateText({ state: 'active', pps: 200, filtered_packets: 0 })).toContain('reaches its target');
  const a = { kind: 'udp_flood', state: 'active', devices: null, gateways: null, collateral: 0 };
  expect(adviceOf(a)).toContain('no report says where it comes from');
  expect(adviceOf({ ...a, kind: 'surge' })).toContain('Nothing');
  expect(adviceOf({ ...a, state: 'mitigated', collateral: 3 })).toContain('narrower');
});
