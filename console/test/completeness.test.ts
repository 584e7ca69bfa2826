import { expect, test } from 'vitest';
import { arrivalsOf } from '../src/lib/completeness';

test('completeness is that of exporters whose numbers count', () => {
  const counts = { source: '127.0.0.1', received: 105, duplicate: 5, lost: 20 };
  expect(
    arrivalsOf([counts, { source: '127.0.0.2', received: 80, lost: 0 }, { source: '127.0.0.3', received: 1000 }]),
  ).toEqual({ lost: 20, sent: 200, unknown: 1 });
  // What was lost in an interval before came late in this one.
  expect(arrivalsOf([{ source: '127.0.0.1', received: 100, lost: -3 }])).toEqual({ lost: 0, sent: 100, unknown: 0 });
  expect(arrivalsOf([])).toEqual({ lost: 0, sent: 0, unknown: 0 });
});
