// Names of addresses by the prefixes that the inventory has.

/** A Prefix has the bits of an address that all in it have, as a number. */
interface Prefix {
  v6: boolean;
  rest: bigint; // bits that may differ
  bits: bigint;
  name: string;
}

/** hostsBy returns what names an address: the longest prefix that it is in; '' where there is none. Longer prefixes come first. */
export function hostsBy(hosts: { prefix: string; name: string }[]): (address: string) => string {
  const single = new Map<string, string>();
  const prefixes: Prefix[] = [];
  for (const { prefix, name } of hosts) {
    const [address = '', length] = prefix.split('/');
    const v6 = address.includes(':');
    const rest = BigInt((v6 ? 128 : 32) - Number(length));
    if (rest === 0n) single.set(address, name);
    else prefixes.push({ v6, rest, bits: numberOf(address) >> rest, name });
  }
  return (address) => {
    const known = single.get(address);
    if (known !== undefined || prefixes.length === 0) return known ?? '';
    const [v6, bits] = [address.includes(':'), numberOf(address)];
    return prefixes.find((p) => p.v6 === v6 && bits >> p.rest === p.bits)?.name ?? '';
  };
}

/** numberOf is an address as a number; that of what is none says nothing. */
function numberOf(address: string): bigint {
  if (!address.includes(':')) return join(address.split('.'), 8n, 10);
  const [before = [], after = []] = address.split('::').map((half) => (half ? half.split(':') : []));
  return join(
    [...before, ...Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0'), ...after],
    16n,
    16,
  );
}

const join = (parts: string[], size: bigint, base: number): bigint =>
  parts.reduce((sum, part) => (sum << size) | BigInt(parseInt(part, base) || 0), 0n);
