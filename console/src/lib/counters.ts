// What devices count at their ports, in a few words.
import type { PortCounters } from '../api/types';
import { bits, counted, percent } from './format';

/** countedText is what came in by a port, or what left by it: 12.5 Mbit/s (12 %), 3 discards, 1 error. Nothing is said of 0 discards and errors. */
export function countedText(c: PortCounters, way: 'in' | 'out'): string {
  const [bps, use, discards, errors] =
    way === 'in'
      ? [c.in_bps, c.in_use, c.in_discards, c.in_errors]
      : [c.out_bps, c.out_use, c.out_discards, c.out_errors];
  return [
    bps == null ? '' : bits(bps) + (use == null ? '' : ` (${percent(use)})`),
    discards ? counted(discards, 'discard', 'discards') : '',
    errors ? counted(errors, 'error', 'errors') : '',
  ]
    .filter(Boolean)
    .join(', ');
}
