import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { fits } from '../src/api/shape';

const golden = (name: string): unknown => JSON.parse(readFileSync(`../api/testdata/${name}.json`, 'utf8'));
const lists = [
  'alerts',
  'bursts',
  'clocks',
  'drops',
  'events',
  'exporters',
  'flows',
  'hops',
  'links',
  'listeners',
  'nodes',
  'outputs',
  'paths',
  'queues',
  'reports',
  'rules',
  'silences',
];

test('answers of the API have their shape', () => {
  for (const path of [...lists, 'topology', 'loss', 'decode']) expect(fits(path, golden(path)), path).toBe(true);
  for (const [path, file] of [
    ['flows', 'flows_history'],
    ['drops', 'drops_history'],
    ['topology', 'topology_at'],
    ['loss', 'loss_intervals'],
    ['heatmap', 'heatmap_hops'],
    ['bursts/8d', 'burst'],
    ['reports/17', 'report'],
    ['flows/1f/paths', 'flowpaths'],
  ]) {
    expect(fits(path!, golden(file!)), path).toBe(true);
  }
});

test('what a proxy or another server may say has not', () => {
  const at = '2026-11-21T09:00:00Z';
  for (const path of [
    ...lists,
    'topology',
    'loss',
    'heatmap',
    'bursts/8d',
    'flows/1f/paths',
    'reports/17',
    'docs',
    'docs/page',
    'docs/search',
    'decode',
    'demo',
    'session',
    'filter/complete',
  ]) {
    for (const answer of [
      null,
      undefined,
      '',
      7,
      true,
      [],
      [1, 2],
      {},
      { ok: true },
      { error: 'log in first' },
      { generated_at: at },
    ])
      expect(fits(path, answer), `${path} ${JSON.stringify(answer)}`).toBe(false);
  }
  expect(fits('filter/validate', [])).toBe(false);
  expect(fits('flows', { generated_at: at, flows: [1] })).toBe(false);
  expect(fits('flows', { generated_at: at, flows: [null] })).toBe(false);
  expect(fits('flows', { generated_at: at, flows: 'none' })).toBe(false);
  expect(fits('flows', { generated_at: 7, flows: [] })).toBe(false);
  expect(fits('drops', golden('flows'))).toBe(false);
  expect(fits('flows', { generated_at: at, flows: null })).toBe(true);
});

test('what is sent is answered in another shape than what is asked', () => {
  const silence = { id: '1', filter: 'kind = loop', until: '2026-11-21T09:00:00Z', reason: '', in_file: false };
  expect(fits('silences', silence, 'POST')).toBe(true);
  expect(fits('silences', silence)).toBe(false);
  expect(fits('silences', {}, 'POST')).toBe(false);
});
