import { expect, test } from 'vitest';
import { inventory } from '../src/api/inventory.svelte';
import { flowName } from '../src/lib/format';
import { hostsBy } from '../src/lib/hosts';

test('an address has the name of the longest prefix that it is in', () => {
  const name = hostsBy([
    { prefix: '10.0.1.4/32', name: 'h4' },
    { prefix: 'fd00::1:0:0:0/80', name: 'rack6' },
    { prefix: '10.0.1.0/24', name: 'rack1' },
    { prefix: '10.0.0.0/9', name: 'low' },
    { prefix: '0.0.0.0/0', name: 'else' },
  ]);
  expect(
    ['10.0.1.4', '10.0.1.5', '10.0.2.4', '10.127.255.255', '10.128.0.0', 'fd00::1:0:0:5', 'fd00::2:0:0:5', '::'].map(
      name,
    ),
  ).toEqual(['h4', 'rack1', 'low', 'low', 'else', 'rack6', '', '']);
});

test('ports are named where the inventory does, and a depth is a share of their queues where both are counted in bytes', () => {
  expect(inventory.portsText(1, 2, 6)).toBe('in 2 out 6');
  expect(inventory.portsText(1, null, 6)).toBe('out 6');
  inventory.set({
    nodes: [
      {
        node: 1,
        name: 'leaf1',
        ports: [{ port: 6, name: 'Ethernet6', speed_bps: 25e9, queue_size: 200_000, to: 'h4' }, { port: 2 }],
      },
    ],
    hosts: [{ prefix: '2001:db8::4/128', name: 'h4' }],
  });
  expect(inventory.portsText(1, null, 6)).toBe('Ethernet6');
  expect(inventory.portsText(1, 6, null)).toBe('Ethernet6');
  expect(inventory.portsText(1, 2, 6)).toBe('in 2 out Ethernet6');
  expect(inventory.portsText(2, null, 6)).toBe('out 6');
  expect(inventory.portHint(1, 6)).toBe('port 6, 25G, queues of 200 kB → h4');
  expect(inventory.portHint(1, 9)).toBe('');
  expect(inventory.filledText(1, 6, 50_000, 'bytes')).toBe(' 25 % full');
  expect(inventory.filledText(1, 6, 625, 'cells:80')).toBe(' 25 % full');
  for (const unit of ['packets', 'unknown', undefined]) expect(inventory.filledText(1, 6, 50_000, unit)).toBe('');
  expect(inventory.filledText(1, 2, 50_000, 'bytes')).toBe('');
  const flow = { src: '2001:db8::4', src_port: 5, dst: '2001:db8::5', dst_port: 6, protocol: 'udp' };
  expect(flowName(flow, inventory.hostName)).toBe('h4:5 → [2001:db8::5]:6 udp');
});
