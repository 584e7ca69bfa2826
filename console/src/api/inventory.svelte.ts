// What is known of nodes, ports and hosts beside what they report, for all pages: names, speeds, sizes of queues, and what is behind a port.
import { untrack } from 'svelte';
import { percent, speed, bytes } from '../lib/format';
import { hostsBy } from '../lib/hosts';
import { get } from './client';
import type { Inventory as Answer, InventoryNode, InventoryPort } from './types';

type Id = number | null | undefined;

class Inventory {
  nodes = $state.raw(new Map<number, InventoryNode>());
  #ports = $state.raw(new Map<string, InventoryPort>());
  #host = $state.raw<(address: string) => string>(() => '');
  #said = ''; // the nodes and hosts of the latest answer

  /** follow asks for it now and then. It returns what ends that. */
  follow(everyMs = 60_000): () => void {
    const ask = (): void => {
      if (document.hidden) return;
      get<Answer>('inventory').then(
        (answer) => untrack(() => this.set(answer)),
        () => undefined, // what it would name has its number
      );
    };
    ask();
    const timer = setInterval(ask, everyMs);
    return () => clearInterval(timer);
  }

  set({ nodes, hosts }: Pick<Answer, 'nodes' | 'hosts'>): void {
    const said = JSON.stringify([nodes, hosts]);
    if (said === this.#said) return;
    this.#said = said;
    this.nodes = new Map((nodes ?? []).map((n) => [n.node, n]));
    this.#ports = new Map(
      (nodes ?? []).flatMap((n) => (n.ports ?? []).map((p) => [`${n.node} ${p.port}`, p] as const)),
    );
    this.#host = hostsBy(hosts ?? []);
  }

  port(node: Id, port: Id): InventoryPort | undefined {
    return this.#ports.get(`${node} ${port}`);
  }

  /** portName is the name of a port, or its number. */
  portName(node: Id, port: Id): string {
    return port == null ? '–' : this.port(node, port)?.name || String(port);
  }

  /** portsText names the ports by which packets come to a node and leave it. One alone that has a name needs no word before it. */
  portsText(node: Id, ingress: Id, egress: Id): string {
    const one = ingress ?? egress;
    if (one != null && (ingress == null || egress == null) && this.port(node, one)?.name)
      return this.portName(node, one);
    return [
      ingress == null ? '' : `in ${this.portName(node, ingress)}`,
      egress == null ? '' : `out ${this.portName(node, egress)}`,
    ]
      .filter(Boolean)
      .join(' ');
  }

  /** portHint says what is known of a port: its number, its speed, and what is behind it. */
  portHint(node: Id, port: Id): string {
    const known = this.port(node, port);
    if (port == null || !known) return '';
    return [
      `port ${port}`,
      known.speed_bps ? speed(known.speed_bps) : '',
      known.queue_size ? `queues of ${bytes(known.queue_size)}` : '',
    ]
      .filter(Boolean)
      .join(', ')
      .concat(known.to ? ` → ${known.to}` : '');
  }

  /** hostName is the name of an address, or ''. */
  hostName = (address: string): string => this.#host(address);

  /** filled is which share of the queues of a port a depth is, where their size and the unit of the depth are known. */
  filled(node: Id, port: Id, depth: number | null | undefined, unit: string | undefined): number | null {
    const size = this.port(node, port)?.queue_size;
    const [name, cell] = (unit ?? '').split(':');
    const bytes = name === 'bytes' ? 1 : Number(cell ?? 0);
    return size && bytes && depth != null ? (depth * bytes) / size : null;
  }

  /** filledText is filled as it stands behind a depth, or ''. */
  filledText(node: Id, port: Id, depth: number | null | undefined, unit: string | undefined): string {
    const share = this.filled(node, port, depth, unit);
    return share === null ? '' : ` ${percent(share)} full`;
  }

  /** speedText is the speed of a port as it stands behind a share of it, or ''. */
  speedText(node: Id, port: Id): string {
    const bps = this.port(node, port)?.speed_bps;
    return bps ? ` of ${speed(bps)}` : '';
  }
}

export const inventory = new Inventory();
