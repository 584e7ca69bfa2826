// What is behind the ports of nodes, in a few words each.
import type { Topology } from '../../api/types';
import { addressKey } from '../../lib/format';

/** Behind is a port with the hosts that are there: those of the network itself, or those in tunnels where there are no others. */
export interface Behind {
  port: number | null;
  /** names, and addresses of those without one, by number */ hosts: { text: string; addresses: string[] }[];
}

/** hostsOf are the ports of nodes that hosts are behind, in their order. */
export function hostsOf(hosts: Topology['hosts']): Map<number, Behind[]> {
  const ports = new Map<string, { node: number; port: number | null; outer: Set<string>; inner: Set<string> }>();
  const names = new Map<string, string>();
  for (const host of hosts ?? []) {
    if (host.host_name) names.set(host.address, host.host_name);
    for (const { node, port } of host.places ?? []) {
      const key = `${node} ${port}`;
      const at = ports.get(key) ?? { node, port, outer: new Set(), inner: new Set() };
      (host.tunnel ? at.inner : at.outer).add(host.address);
      ports.set(key, at);
    }
  }
  const behind = new Map<number, Behind[]>();
  for (const { node, port, outer, inner } of ports.values()) {
    const named = new Map<string, string[]>();
    for (const address of [...(outer.size ? outer : inner)].toSorted(byNumber)) {
      const text = names.get(address) ?? address;
      named.set(text, [...(named.get(text) ?? []), address]);
    }
    behind.set(node, [
      ...(behind.get(node) ?? []),
      { port, hosts: [...named].map(([text, addresses]) => ({ text, addresses })) },
    ]);
  }
  for (const at of behind.values()) at.sort((a, b) => (a.port ?? Infinity) - (b.port ?? Infinity));
  return behind;
}

const byNumber = (a: string, b: string): number => addressKey(a).localeCompare(addressKey(b));

/** hostsText names what is behind a port: the first host, and how many others. */
export const hostsText = ({ hosts }: Behind): string =>
  `${hosts[0]?.text ?? ''}${hosts.length > 1 ? ` and ${hosts.length - 1} more` : ''}`;
