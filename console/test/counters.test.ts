import { expect, test } from 'vitest';
import type { PortCounters } from '../src/api/types';
import { countedText } from '../src/lib/counters';

test('counters of a port are said as far as the device counts', () => {
  const some: PortCounters = {
    admin: 'up',
    oper: 'up',
    restarts: 0,
    first: '',
    last: '',
    in_bps: 12.5e6,
    in_use: 0.125,
    in_discards: 3,
    in_errors: 1,
    out_bps: 0,
    out_discards: 0,
  };
  expect(countedText(some, 'in')).toBe('12.5 Mbit/s (12.5 %), 3 discards, 1 error');
  expect(countedText(some, 'out')).toBe('0 bit/s');
  expect(countedText({ ...some, in_bps: undefined }, 'in')).toBe('3 discards, 1 error');
  expect(countedText({ ...some, out_bps: undefined }, 'out')).toBe('');
});
