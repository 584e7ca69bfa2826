import { expect, test } from 'vitest';
import { askLife, lastHour } from '../src/pages/flow/life';

const at = (clock: string): number => Date.parse(`2026-11-21T${clock}Z`);

test('the charts of a flow are about its life and a fifth of it before and after', () => {
  expect(askLife(at('12:00:00'), at('12:05:00'), at('12:30:00'))).toEqual({
    params: { since: '2026-11-21T11:59:00.000Z', until: '2026-11-21T12:06:00.000Z' },
    ms: 420_000,
  });
  // A short one has some room.
  expect(askLife(at('12:00:03'), at('12:00:04'), at('12:30:00'))).toEqual({
    params: { since: '2026-11-21T11:59:50.000Z', until: '2026-11-21T12:00:10.000Z' },
    ms: 20_000,
  });
});

test('the life of a flow that goes on has no end, and that of an old one only its last hour', () => {
  expect(askLife(at('12:00:00'), at('12:29:59'), at('12:30:00'))).toEqual({
    params: { since: '2026-11-21T11:54:00.000Z' },
    ms: 36 * 60_000,
  });
  expect(askLife(at('02:00:00'), at('12:30:00'), at('12:30:00'))).toEqual(lastHour);
  expect(askLife(at('02:00:00'), at('02:01:00'), at('12:30:00'))).toEqual(lastHour);
});
