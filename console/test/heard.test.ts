import { expect, test } from 'vitest';
import type { Exporter, Listener } from '../src/api/types';
import { heardOf, stepOf } from '../src/pages/overview/heard';

const exporter = (source: string, more: Partial<Exporter>): Exporter =>
  ({ source, received: 0, reports: 0, malformed: {}, damaged: {}, last: '2026-11-28T01:00:00Z', ...more }) as Exporter;
const listener = (received: number): Listener => ({ address: 'udp://:8555', received }) as Listener;

test('what a source sent is one line, with why nothing came of it', () => {
  const heard = heardOf([
    exporter('192.0.2.1', { received: 3, malformed: { unknown_version: 2, too_short: 1 } }),
    exporter('192.0.2.9', { refused: 5, refused_because: 'no row of exporters has its address' }),
    exporter('192.0.2.1', { received: 4, malformed: { unknown_version: 4 }, last: '2026-11-28T02:00:00Z' }),
    exporter('192.0.2.5', { received: 8, reports: 7, damaged: { shim_length_overrun: 1 } }),
  ]);
  expect(
    heard.map(({ source, received, reports, why }) => [
      source,
      received,
      reports,
      why.map((w) => [w.count, w.what, w.because].join(' ')),
    ]),
  ).toEqual([
    ['192.0.2.1', 7, 0, ['6 malformed unknown version', '1 malformed too short']],
    ['192.0.2.9', 5, 0, ['5 refused no row of exporters has its address']],
    ['192.0.2.5', 8, 7, ['1 damaged shim length overrun']],
  ]);
});

test('a server waits for a listener, for datagrams, for reports, and then for a path', () => {
  const refused = heardOf([exporter('192.0.2.9', { refused: 5 })]);
  expect([
    stepOf([], []),
    stepOf([listener(0)], []),
    stepOf([listener(2)], []),
    stepOf([listener(0)], refused),
    stepOf([listener(2)], heardOf([exporter('192.0.2.5', { received: 1, reports: 1 })])),
  ]).toEqual(['listen', 'hear', 'read', 'read', 'path']);
});
