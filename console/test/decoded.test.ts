import { expect, test } from 'vitest';
import type { DecodedLayer, Event } from '../src/api/types';
import { fromBase64, fromHex, owners, rowsOf, where } from '../src/lib/decoded';
import answer from '../../api/testdata/decode.json';

const layers = answer.layers as unknown as DecodedLayer[];

test('every byte belongs to the field with the fewest bytes around it', () => {
  const rows = rowsOf(layers);
  const owner = owners(rows, answer.length);
  expect(new Set(rows.map((row) => row.key)).size).toBe(rows.length);
  for (let at = 0; at < answer.length; at++) {
    const around = rows.filter((row) => at >= row.offset && at < row.offset + row.length);
    expect(owner[at]?.length, `byte ${at}`).toBe(Math.min(...around.map((row) => row.length)));
  }
  expect(owner[4]?.name).toBe('node_id');
  expect(owners(rows, 2)).toHaveLength(2); // a field may reach over the end of what is shown
});

test('where a field stands', () => {
  const [version, , sequence, node] = layers[0]!.fields!.map((field) =>
    rowsOf(layers).find((row) => row.name === field.name)!,
  );
  expect([version!, sequence!, node!].map(where)).toEqual([
    'byte 0, bits 0 to 3',
    'bytes 1 to 3, bits 2 to 23',
    'bytes 4 to 7',
  ]);
});

test('bytes as people write them', () => {
  expect([...fromHex('0x20 00:03,\nFF')!]).toEqual([0x20, 0, 3, 255]);
  expect([fromHex(''), fromHex('2'), fromHex('zz')]).toEqual([null, null, null]);
  expect([...fromBase64('IAAD')]).toEqual([0x20, 0, 3]);
});

test('a silence is about the kind and the place of an event', async () => {
  const { filterOf } = await import('../src/pages/events/silence');
  const { untilOf } = await import('../src/lib/time');
  const event = { kind: 'link_lost', node: 1, port: 5, to_node: 7 } as Event;
  expect(filterOf(event)).toBe('kind = link_lost and node = 1 and egress_port = 5 and to_node = 7');
  expect(filterOf({ kind: 'report_loss', source: '10.0.0.1' } as Event)).toBe(
    'kind = report_loss and source = 10.0.0.1',
  );
  expect(untilOf(Date.parse('2026-11-21T10:00:00Z'), 30)).toBe('2026-11-21T10:30:00.000Z');
});

test('the times of a path are one lane', async () => {
  const { lanesOf } = await import('../src/pages/flow/band');
  const { default: golden } = await import('../../api/testdata/flowpaths.json');
  const lanes = lanesOf(golden.paths as never);
  expect(lanes.map((lane) => [lane.id, lane.times.length, lane.packets])).toEqual(
    [...new Set(golden.paths.map((path) => path.id))].map((id) => [
      id,
      golden.paths.filter((path) => path.id === id).length,
      golden.paths.filter((path) => path.id === id).reduce((sum, path) => sum + path.packets, 0),
    ]),
  );
  expect(lanes[0]!.label).toBe('s1 → ? ×2 → s2');
});
