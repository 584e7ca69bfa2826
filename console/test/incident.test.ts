import { expect, test } from 'vitest';
import { chainOf, frameOf } from '../src/pages/incident/chain';

const event = (id: string, second: number, of?: string) => ({
  id,
  ...(of === undefined ? {} : { of }),
  kind: 'k',
  severity: 'info',
  start: `2026-01-01T00:00:0${second}Z`,
  end: `2026-01-01T00:00:0${second + 1}Z`,
  count: 1,
  text: id,
});
const told = (events: ReturnType<typeof event>[]) => chainOf(events).map(({ event, depth }) => `${event.id}${depth}`);

test('events stand below what they follow from, in the order of time', () => {
  expect(
    told([event('cause', 1), event('late', 5, 'cause'), event('early', 0, 'cause'), event('of_early', 6, 'early')]),
  ).toEqual(['cause0', 'early1', 'of_early2', 'late1']);
});

test('no event is lost or told twice, whatever they say they follow from', () => {
  expect(told([event('a', 1, 'gone'), event('b', 2, 'b'), event('c', 3, 'd'), event('d', 4, 'c')])).toEqual([
    'a0',
    'b0',
    'c0',
    'd1',
  ]);
  expect(told([])).toEqual([]);
});

test('what goes on reaches now', () => {
  const start = '2026-01-01T00:00:01Z';
  const now = Date.parse('2026-01-01T00:00:21Z');
  expect(frameOf({ start, end: null, events: [event('a', 1)] }, now)).toEqual({ from: now - 21_000, to: now + 1000 });
  const over = frameOf({ start, end: '2026-01-01T00:00:11Z', events: [event('a', 1), event('b', 0)] }, now);
  expect(over).toEqual({ from: now - 21_000 - 550, to: now - 10_000 + 550 });
});
