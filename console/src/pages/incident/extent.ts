// Whom an incident hit, and what could not be seen of it.
import type { Incident } from '../../api/types';
import { bytes, counted, number, unknown } from '../../lib/format';

/** extentOf says whom an incident hit. A count that is a lower bound says so; of one that is 0 then, nothing is known. */
export function extentOf(incident: Incident): { title: string; text: string }[] {
  const count = (
    title: string,
    name: 'flows_hit' | 'hosts_hit' | 'packets_hit' | 'bytes_hit',
    write = number,
  ): { title: string; text: string } => {
    const value = incident[name];
    if (!incident.at_least?.includes(name)) return { title, text: write(value) };
    return { title, text: value === 0 ? unknown : `at least ${write(value)}` };
  };
  return [
    count('Flows hit', 'flows_hit'),
    count('Hosts hit', 'hosts_hit'),
    count('Packets hit', 'packets_hit'),
    count('Bytes hit', 'bytes_hit', bytes),
  ];
}

/** unseenOf says what exporters could not tell while it lasted, as the ledger has it. */
export const unseenOf = ({ unseen }: Incident): string[] =>
  (unseen ?? []).map(({ name, source, silent, lost, sent }) =>
    silent
      ? `nothing came from ${name || source}`
      : `${number(lost)} of ${counted(sent, 'datagram')} of ${name || source} were lost on the way here`,
  );
