import { expect, test, vi } from 'vitest';
import { adds, intervalFor, subjects } from '../src/pages/explore/catalogue';
import type { Found, Row } from '../src/pages/explore/question';

vi.stubGlobal('location', { hash: '' });
vi.stubGlobal('addEventListener', () => {});
const { ask: askStore, coarse, paramsOf, questionOf, upToNow } = await import('../src/pages/explore/question');
const { filtersOf } = await import('../src/pages/explore/groups');
const { fieldText, keyOf, labelOf, picture } = await import('../src/pages/explore/series');
const { inventory } = await import('../src/api/inventory.svelte');
const { sankey } = await import('../src/lib/sankey');

const ask = (text: string) => {
  const params = new URLSearchParams(text);
  return questionOf((name) => params.get(name) ?? '', { since: '1h' }, 3_600_000);
};

test('what the address does not say, or says wrongly, is as usual', () => {
  expect(ask('')).toMatchObject({
    of: 'flows',
    measure: 'packets',
    by: ['src', 'dst'],
    since: '1h',
    interval: '30s',
    graph: 'lines',
    top: 8,
  });
  expect(ask('of=nonsense&measure=nonsense&by=nonsense&graph=nonsense&top=x')).toMatchObject({
    of: 'flows',
    measure: 'packets',
    by: ['src', 'dst'],
    graph: 'lines',
    top: 8,
  });
  expect(ask('of=links&by=-')).toMatchObject({ by: [], measure: 'packets' });
  expect(paramsOf(ask('of=links&by=-'), '1m')).toEqual({
    since: '1h',
    until: '',
    filter: '',
    group_by: null,
    interval: '1m',
  });
  expect(paramsOf(ask('of=hops&measure=latency_max_ns'))).toEqual({
    since: '1h',
    until: '',
    filter: '',
    group_by: 'node,egress_port',
    order: 'latency_max_ns',
  });
});

test('pieces are as long as there is room for 120', () => {
  expect([60, 1200, 3600, 86400, 30 * 86400].map(intervalFor)).toEqual(['10s', '10s', '30s', '15m', '6h']);
  expect(questionOf(() => '', { since: '10m' }, 600_000)).toMatchObject({ since: '10m', until: '', interval: '10s' });
});

const at = (minute: number): string => `2026-11-21T09:${String(minute).padStart(2, '0')}:00Z`;
const found = (totals: Row[], rows: Row[], others: Row[] = []): Found => ({
  generated_at: at(6),
  frame: { generated_at: at(6), since: '2026-11-21T09:00:30Z', until: '2026-11-21T09:05:30Z', resolution_ns: 6e10 },
  totals,
  rows,
  others,
  moreRows: false,
  moreTotals: false,
});

test('the rest is a series where it is a sum, and pieces that are cut or without records are not drawn as 0', () => {
  const q = ask('of=hops&by=node&top=1&interval=1m');
  const rows = [
    { start: at(0), node: 1, packets: 9 },
    { start: at(1), node: 1, packets: 5 },
    { start: at(1), node: 3, packets: 1 },
    { start: at(5), node: 1, packets: 7 },
  ];
  const shown = picture(
    q,
    found(
      [
        { node: 1, name: 'leaf1', packets: 21 },
        { node: 2, packets: 6 },
      ],
      rows,
      [
        { start: at(1), packets: 2 },
        { start: at(3), packets: 4 },
      ],
    ),
    60_000,
  );
  expect(shown.starts.map((ms) => new Date(ms).toISOString().slice(0, 19) + 'Z')).toEqual([at(1), at(2), at(3), at(4)]);
  expect(shown.cut).toBe(2);
  expect(shown.known).toEqual([true, false, true, false]); // at 2 and 4 nobody recorded anything
  expect(shown.series.map((s) => [s.label, s.values])).toEqual([
    ['leaf1', [5, null, 0, null]],
    ['all others', [3, null, 4, null]],
  ]);
  const slow = picture(
    ask('of=hops&by=node&top=1&measure=latency_max_ns'),
    found(
      [{ node: 1, latency_max_ns: 9 }],
      [{ start: at(1), node: 1, latency_max_ns: 9 }],
      [
        { start: at(1), latency_max_ns: 8 },
        { start: at(2), latency_max_ns: 8 },
      ],
    ),
    60_000,
  );
  expect(slow.series.map((s) => [s.label, s.values])).toEqual([['node 1', [9, null, null, null]]]);
  expect(slow.known).toEqual([true, true, false, false]);
});

test('the period that a range is compared with stands at the same places, and has the same groups', () => {
  const q = ask('of=hops&by=node&top=1&interval=1m');
  const row = (minute: number, packets: number): Row => ({ start: at(minute), node: 1, packets });
  const now = found([{ node: 1, packets: 21 }], [row(11, 5), row(12, 7), row(13, 9)]);
  const frame = { ...now.frame, since: at(11), until: at(14) };
  const before = {
    shiftMs: 330_000, // its pieces begin in the middle of those
    frame: { ...now.frame, since: '2026-11-21T09:05:30Z', until: '2026-11-21T09:08:30Z' },
    rows: [row(5, 1), row(6, 2), row(7, 4), row(8, 8)],
    others: [{ start: at(6), packets: 3 }],
  };
  const { series } = picture(q, { ...now, frame, before }, 60_000);
  expect(series.map((s) => [s.label, s.values, s.before])).toEqual([
    ['node 1', [5, 7, 9], [2, 4, null]],
    ['all others', [null, null, null], [3, 0, null]],
  ]);
});

test('an answer without records says nothing of how long they are, and of late ones only up to now', () => {
  const some = found([{ node: 1, packets: 1 }], []);
  expect([coarse(some, 10_000), coarse(some, 60_000), coarse({ ...some, totals: [] }, 10_000)]).toEqual([6e10, 0, 0]);
  expect(upToNow({ ...some.frame, generated_at: '2026-11-21T09:05:45Z' })).toBe(true);
  expect(upToNow({ ...some.frame, generated_at: '2026-11-21T09:06:00Z' })).toBe(false);
});

test('groups are named by their fields', () => {
  expect(labelOf(ask('of=links&by=from,from_port,to'), { from: 1, from_name: 'leaf1', from_port: 5, to: 7 })).toBe(
    'leaf1 from port 5 node 7',
  );
  expect(labelOf(ask('of=hops&by=node,egress_port'), { node: 1, name: 'leaf1', egress_port: 5 })).toBe('leaf1 out 5');
  expect(labelOf(ask('of=links&by=-'), {})).toBe('all links');
});

test('what goes into a box comes out of it', () => {
  const { boxes, bands } = sankey(
    [
      { labels: ['a', 'x', '1'], value: 30 },
      { labels: ['b', 'x', '2'], value: 10 },
      { labels: ['a', 'y', '2'], value: 5 },
    ],
    200,
  );
  for (const box of boxes) {
    for (const side of ['source', 'target'] as const) {
      const through = bands.filter((band) => band[side] === box).reduce((sum, band) => sum + band.value, 0);
      if (through > 0) expect(through).toBe(box.value);
    }
  }
  expect(boxes.filter((box) => box.column === 1).map((box) => [box.label, box.value])).toEqual([
    ['x', 40],
    ['y', 5],
  ]);
});

test('a mean or a maximum of two groups is not the sum of theirs, a count is', () => {
  for (const { measures } of Object.values(subjects)) {
    for (const measure of measures)
      expect(adds(measure), measure).toBe(!/_(mean|max|min|p50|p99)(_ns)?$/.test(measure));
  }
});

test('a file has all pages, and the names of its columns once', async () => {
  const { fileName, fileOf } = await import('../src/pages/explore/file');
  const pages: Record<string, [string, string]> = {
    '': ['src,packets\na,1\nb,2\n', 'one'],
    one: ['src,packets\nc,3\n', 'two'],
    two: ['src,packets\nd,4\n', ''],
  };
  const ask = async ({ cursor }: Record<string, unknown>) => ({
    bytes: new TextEncoder().encode(pages[String(cursor)]![0]),
    next: pages[String(cursor)]![1],
  });
  const text = (parts: Uint8Array[]) => parts.map((part) => new TextDecoder().decode(part)).join('');
  const sizes: number[] = [];
  const csv = await fileOf('csv', {}, ask, (bytes) => sizes.push(bytes));
  expect([text(csv.parts), csv.cut, sizes.length, sizes.at(-1)]).toEqual([
    'src,packets\na,1\nb,2\nc,3\nd,4\n',
    false,
    3,
    28,
  ]);
  expect(fileName('x', 'csv', csv)).toBe('x.csv');
  const parquet = await fileOf('parquet', {}, ask, () => {});
  expect([parquet.parts.length, fileName('x', 'parquet', parquet)]).toEqual([1, 'x-first-100000.parquet']);
});

test('of many groups only those that are drawn are asked for over time, and all others in one', async () => {
  const asked: URLSearchParams[] = [];
  const network = globalThis.fetch;
  let groups = 3;
  vi.stubGlobal('fetch', async (url: string) => {
    asked.push(new URL(url, 'http://x/').searchParams);
    const paths =
      asked.length > 1
        ? [{ start: at(1), packets: asked.length }]
        : Array.from({ length: groups }, (_, i) => ({ id: `0000000000000a${10 + i}`.slice(-16), packets: 2000 - i }));
    return new Response(
      JSON.stringify({ generated_at: at(6), since: at(0), until: at(5), resolution_ns: 1e10, paths }),
    );
  });
  const filters = async (text: string): Promise<string[]> => {
    asked.length = 0;
    await askStore(ask(text), new AbortController().signal, () => {});
    for (const params of asked.slice(1)) expect([params.get('since'), params.get('until')]).toEqual([at(0), at(5)]); // not what "1h ago" is by then
    return asked.map((params) => `${params.get('group_by')}: ${params.get('filter') ?? ''}`);
  };
  expect(await filters('of=paths&top=2&filter=node %3D 1')).toEqual([
    'id: node = 1',
    'id: node = 1 and ((id in ("0000000000000a10", "0000000000000a11")))',
    ': node = 1 and (not (id in ("0000000000000a10", "0000000000000a11")))',
  ]);
  expect(await filters('of=paths&top=3')).toEqual(['id: ', 'id: ']);
  expect(await filters('of=paths&top=2&graph=table')).toEqual(['id: ']);
  groups = 0;
  expect(await filters('of=paths&top=2')).toEqual(['id: ']);
  groups = 1000;
  const drawn = async (top: number): Promise<number> =>
    Math.max(...(await filters(`of=paths&top=${top}`)).map((text) => text.split('"').length >> 1));
  expect([await drawn(40), await drawn(100), await drawn(200)]).toEqual([40, 100, 0]); // without a filter it asks for all
  for (const top of [40, 100, 150, 200]) {
    await filters(`of=paths&top=${top}`);
    for (const params of asked) expect(`/api/v1/paths?${params}&cursor=`.length + 200).toBeLessThanOrEqual(4096); // as docs/reference/api.md says of path and query
  }
  vi.stubGlobal('fetch', network);
});

test('a filter selects groups by all of their fields, known or not, whatever is in them', () => {
  const versions = [
    { version: '2.0', hw_id: 3, loss_known: 'no: "x"' },
    { version: '21', loss_known: null, hw_id: null },
  ];
  const either =
    '((version = 2.0 and hw_id = 3 and loss_known = "no: ""x""") or (version = 21 and hw_id is null and loss_known is null))';
  expect(filtersOf(ask('of=exporters&by=version,hw_id,loss_known'), versions)).toEqual({
    these: either,
    others: `not ${either}`,
  });
  const ways = [
    { protocol: 'tcp', path: 'b1' },
    { protocol: 'udp', path: 'b1' },
    { protocol: 'tcp', path: null },
  ];
  const any =
    '((path = "b1" and protocol = "tcp") or (path = "b1" and protocol = "udp") or (path is null and protocol = "tcp"))';
  expect(filtersOf(ask('of=flows&by=path,protocol'), ways)).toEqual({
    these: `(path in ("b1") or path is null) and ${any}`,
    others: `not (path in ("b1") or path is null) or not ${any}`,
  });
  expect(filtersOf(ask('of=paths'), [{ id: null }]).these).toBe('(id is null)');
});

test('how long the records are that are drawn is said, not those of the totals', async () => {
  const network = globalThis.fetch;
  vi.stubGlobal('fetch', async (url: string) => {
    const drawn = new URL(url, 'http://x/').searchParams.has('interval');
    return new Response(
      JSON.stringify({
        generated_at: at(6),
        since: at(0),
        until: at(5),
        resolution_ns: drawn ? 1e10 : 6e10,
        flows: drawn ? [{ start: at(1), packets: 1 }] : [{ packets: 1 }],
      }),
    );
  });
  const drawn = await askStore(ask('interval=10s'), new AbortController().signal, () => {});
  expect([drawn.frame.resolution_ns, drawn.totals, drawn.rows]).toEqual([
    1e10,
    [{ packets: 1 }],
    [{ start: at(1), packets: 1 }],
  ]);
  expect((await askStore(ask('graph=table'), new AbortController().signal, () => {})).frame.resolution_ns).toBe(6e10);
  vi.stubGlobal('fetch', network);
});

test('groups stay apart where the inventory gives them the same name', () => {
  inventory.set({ nodes: [], hosts: [{ prefix: '10.0.1.0/24', name: 'rack1' }] });
  const q = ask('of=flows&by=src');
  const rows = ['10.0.1.1', '10.0.1.2'].map((src) => ({ src }));
  expect(rows.map((row) => labelOf(q, row))).toEqual(['rack1', 'rack1']);
  expect(new Set(rows.map((row) => keyOf(q, row))).size).toBe(2);
  expect(rows.map((row) => fieldText('src', row, true))).toEqual(['10.0.1.1', '10.0.1.2']);
  inventory.set({ nodes: [], hosts: [] });
});
