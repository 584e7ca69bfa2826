import { expect, test } from 'vitest';
import type { Drop } from '../src/api/types';
import { sankey } from '../src/lib/sankey';
import { chainsOf, chainsOfNow, elsewhere, overTime, prefixOf } from '../src/pages/drops/chains';

const drop = (node: number, reason_name: string, packets: number, to: Drop['to'] = []) =>
  ({ node, reason_name, packets, to }) as Drop;

test('drops are chains, and what has no destination is not lost', () => {
  const chains = chainsOfNow([
    drop(1, 'queue_full', 300, [{ prefix: '10.0.1.0/24', packets: 200 }]),
    drop(1, 'queue_full', 100, [{ prefix: '10.0.1.0/24', packets: 100 }]),
    drop(2, 'port_down', 50),
  ]);
  expect(chains).toEqual([
    { labels: ['node 1', 'queue full', '10.0.1.0/24'], value: 300 },
    { labels: ['node 1', 'queue full', elsewhere], value: 100 },
    { labels: ['node 2', 'port down', elsewhere], value: 50 },
  ]);
  const { boxes, bands } = sankey(chains, 200);
  for (const box of boxes) {
    for (const side of ['source', 'target'] as const) {
      const packets = bands.filter((b) => b[side] === box).reduce((sum, b) => sum + b.value, 0);
      if (packets > 0) expect(packets).toBe(box.value);
    }
  }
});

test('records of a range, by the prefix of their destination', () => {
  const chains = chainsOf([
    { node: 1, reason_name: 'loop', dst: '10.0.1.5', packets: 3 },
    { node: 1, reason_name: 'loop', dst: '10.0.1.9', packets: 4 },
    { node: 1, reason_name: 'loop', packets: 1 },
  ]);
  expect(chains).toEqual([
    { labels: ['node 1', 'loop', '10.0.1.0/24'], value: 7 },
    { labels: ['node 1', 'loop', elsewhere], value: 1 },
  ]);
  expect(['fd00::3:0:0:1', 'fd00:0:5::1', '2001:db8:1:2:3:4:5:6', '::1'].map(prefixOf)).toEqual([
    'fd00::/48',
    'fd00:0:5::/48',
    '2001:db8:1::/48',
    '::/48',
  ]);
});

test('many destinations are put together, and none is lost', () => {
  const chains = chainsOfNow(
    Array.from({ length: 50 }, (_, i) => drop(i, 'loop', 100 - i, [{ prefix: `10.${i}.0.0/24`, packets: 100 - i }])),
  );
  expect(new Set(chains.map((c) => c.labels[0])).size).toBe(13);
  expect(new Set(chains.map((c) => c.labels[2])).size).toBe(15);
  expect(chains.reduce((sum, c) => sum + c.value, 0)).toBe(50 * 100 - (49 * 50) / 2);
});

test('drops over time', () => {
  const at = (s: number): string => new Date(s * 1000).toISOString();
  const name = (r: { reason_name?: string }): string => r.reason_name!;
  expect(
    overTime(
      [
        { start: at(10), reason_name: 'a', packets: 2 },
        { start: at(0), reason_name: 'b', packets: 1 },
        { start: at(10), reason_name: 'a', packets: 3 },
        { start: at(10), reason_name: 'z', packets: 9 },
      ],
      ['a', 'b'],
      name,
      10_000,
    ),
  ).toEqual([
    { at: 0, ms: 10_000, values: [1, null] },
    { at: 10_000, ms: 10_000, values: [null, 5] },
  ]);
});
