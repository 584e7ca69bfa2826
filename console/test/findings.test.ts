import { expect, test, vi } from 'vitest';
import type { NodeHop, Topology } from '../src/api/types';
import { logStep } from '../src/lib/scale';

vi.stubGlobal('location', { hash: '' });
vi.stubGlobal('addEventListener', () => {});
const { graphOf } = await import('../src/pages/topology/model');

test('the bar of a queue is measured against the longest that was met at its node, not against those of others', () => {
  const hop = (node: number, last: number, max: number): NodeHop =>
    ({ node, queue: { last, max, mean: last, unit: 'bytes' } }) as unknown as NodeHop;
  const topology = { generated_at: '2026-11-28T01:00:00Z', nodes: [{ id: 1 }, { id: 2 }], links: [] };
  const { stations } = graphOf(
    topology as unknown as Topology,
    [hop(1, 10, 1000), hop(1, 20, 400), hop(2, 90_000, 100_000)],
    [],
    [],
  );
  expect(stations.map(({ queue, filled }) => [queue, filled])).toEqual([
    [20, 20 / 1000],
    [90_000, 90_000 / 100_000],
  ]);
});

test('a heat map of counts is logarithmic', () => {
  const step = logStep(1, 100_000, 5);
  expect([1, 9, 11, 99, 101, 1001, 10_001, 100_000].map(step)).toEqual([0, 0, 1, 1, 2, 3, 4, 4]);
  expect(logStep(7, 7, 5)(7)).toBe(4);
});
