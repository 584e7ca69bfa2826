import { expect, test } from 'vitest';
import { best, hitsOfAddress, hitsOfInventory, hitsOfLinks, hitsOfPages, isAddress, isId } from '../src/lib/search';

const time = '2026-01-01T00:00:00Z';
const node = (id: number, name?: string) => ({
  node: id,
  ...(name === undefined ? {} : { name }),
  ports: [{ port: 3, ...(id === 11 ? { name: 'Ethernet3', to: 'h4' } : {}) }],
});
const link = (from: number, to: number) => ({
  from,
  to,
  ...(from === 2 ? {} : { from_name: `leaf${from}` }),
  ...(to === 2 ? {} : { to_name: `leaf${to}` }),
  from_port: 1,
  to_port: 2,
  confidence: 1,
  delay: null,
  first: time,
  last: time,
  packets: 1,
});
const hits = [
  ...hitsOfPages([
    { name: 'flows', title: 'Flows' },
    { name: 'flow', title: 'Flow', under: 'flows' },
  ]),
  ...hitsOfInventory({
    nodes: [node(1, 'leaf1'), node(11, 'leaf11'), node(2)],
    hosts: [{ prefix: '10.0.1.4/32', name: 'h4' }],
  }),
  ...hitsOfLinks({ links: [link(1, 2), link(2, 1), link(11, 2)] }),
];
const found = (text: string) => best(hits, text, 10).map((h) => h.text);

test('what begins with the words comes first, the shortest before the others', () => {
  expect(found('leaf1')).toEqual([
    'leaf1',
    'leaf11',
    'leaf1 port 3',
    'leaf1 – node 2',
    'leaf11 – node 2',
    'leaf11 Ethernet3 → h4',
  ]);
  expect(found('LEAF1 port')).toEqual(['leaf1 port 3', 'leaf11 Ethernet3 → h4']);
  expect(found('ethernet3')).toEqual(['leaf11 Ethernet3 → h4']);
  expect(found('h4')).toEqual(['h4 10.0.1.4', 'leaf11 Ethernet3 → h4']);
  expect(found('node 2')).toEqual(['node 2', 'node 2 port 3', 'leaf1 – node 2', 'leaf11 – node 2']);
  expect(found('flows')).toEqual(['Flows']);
  expect(found('nothing has this')).toEqual([]);
  expect(best(hits, 'leaf', 2)).toHaveLength(2);
});

test('a link is found once, by the name that its place on the map has', () => {
  const links = hits.filter((h) => h.kind === 'link');
  expect(links.map((h) => h.params)).toEqual([{ link: '1 2' }, { link: '2 11' }]);
});

test('addresses, prefixes and ids are known by what they look like', () => {
  for (const text of ['10.0.0.1', '10.0.0.0/8', '2001:db8::1', '2001:db8::/32', '::'])
    expect(isAddress(text)).toBe(true);
  for (const text of ['10.0.0', '10.0.0.256', '10.0.0.1/x', 'leaf1', '1', 'a:z']) expect(isAddress(text)).toBe(false);
  expect(hitsOfAddress('10.0.0.0/8')[0]!.params).toEqual({ filter: 'src in 10.0.0.0/8 or dst in 10.0.0.0/8' });
  expect(isId('3a0c64b6f1e0a7d2')).toBe(true);
  expect(isId('3a0c64b6f1e0a7d')).toBe(false);
});
