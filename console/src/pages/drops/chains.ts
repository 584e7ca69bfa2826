// Drops as chains from place to reason to destination, for a Sankey picture.
import type { Drop, DropRecord } from '../../api/types';
import { nodeName, words } from '../../lib/format';

export interface Chain {
  labels: string[];
  value: number;
}

/** titles are those of the columns of a table of chains. */
export const titles = ['Node', 'Reason', 'Destination', 'Packets'];

const [places, reasons, destinations] = [12, 10, 14]; // that are told apart

/** chainsOfNow takes drops since the server began. Packets to prefixes that it does not tell apart are to others. */
export function chainsOfNow(drops: Drop[]): Chain[] {
  return merged(
    drops.flatMap((d) => {
      const [place, reason] = [nodeName(d.node, d.name), words(d.reason_name)];
      const told = (d.to ?? []).map((to) => ({ labels: [place, reason, to.prefix], value: to.packets }));
      const rest = d.packets - told.reduce((sum, chain) => sum + chain.value, 0);
      return rest > 0 ? [...told, { labels: [place, reason, elsewhere], value: rest }] : told;
    }),
  );
}

/** chainsOf takes records of a range, each with the address of a packet to the prefix that it is about. */
export function chainsOf(records: DropRecord[]): Chain[] {
  return merged(
    records.map((r) => ({
      labels: [nodeName(r.node, r.name), words(r.reason_name ?? 'unknown reason'), r.dst ? prefixOf(r.dst) : elsewhere],
      value: r.packets ?? 0,
    })),
  );
}

export const elsewhere = 'elsewhere, or unknown';

/** prefixOf is the /24 or /48 of an address. */
export function prefixOf(address: string): string {
  if (!address.includes(':')) return `${address.split('.').slice(0, 3).join('.')}.0/24`;
  const [head = '', tail] = address.split('::');
  const front = head ? head.split(':') : [];
  const back = tail ? tail.split(':') : [];
  const zeros = tail === undefined ? [] : Array<string>(Math.max(0, 8 - front.length - back.length)).fill('0');
  const groups = [...front, ...zeros, ...back].slice(0, 3);
  while (groups.length > 0 && groups.at(-1) === '0') groups.pop();
  return `${groups.join(':')}::/48`;
}

/** merged adds up equal chains, and makes one of all that are not among the largest in their column. */
function merged(chains: Chain[]): Chain[] {
  const keep = [places, reasons, destinations].map((n, column) => {
    const sums = new Map<string, number>();
    for (const { labels, value } of chains) sums.set(labels[column]!, (sums.get(labels[column]!) ?? 0) + value);
    return new Set(
      [...sums]
        .sort((a, b) => b[1] - a[1])
        .slice(0, n)
        .map(([label]) => label),
    );
  });
  const others = ['other nodes', 'other reasons', 'other destinations'];
  const sums = new Map<string, Chain>();
  for (const { labels, value } of chains) {
    const short = labels.map((label, column) => (keep[column]!.has(label) ? label : others[column]!));
    const key = short.join('\n');
    const chain = sums.get(key) ?? { labels: short, value: 0 };
    chain.value += value;
    sums.set(key, chain);
  }
  return [...sums.values()];
}

/** overTime puts the packets of each reason at a place in each piece into columns, the largest at the top. */
export function overTime(
  records: DropRecord[],
  rows: string[],
  name: (r: DropRecord) => string,
  stepMs: number,
): { at: number; ms: number; values: (number | null)[] }[] {
  const row = new Map(rows.map((label, i) => [label, rows.length - 1 - i]));
  const columns = new Map<number, { at: number; ms: number; values: (number | null)[] }>();
  for (const r of records) {
    const at = Date.parse(r.start ?? '');
    const column = columns.get(at) ?? { at, ms: stepMs, values: Array(rows.length).fill(null) };
    const i = row.get(name(r));
    if (i !== undefined) column.values[i] = (column.values[i] ?? 0) + (r.packets ?? 0);
    columns.set(at, column);
  }
  return [...columns.values()].sort((a, b) => a.at - b.at);
}
