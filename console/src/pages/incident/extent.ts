// Whom an incident hit, and what could not be seen of it.
import type { Incident } from '../../api/types';
import { bytes, counted, number, unknown } from '../../lib/format';

type Count = 'packets_lost' | 'flows_moved' | 'flows_hit' | 'hosts_hit' | 'packets_hit' | 'bytes_hit';

/** countOf writes a count of an incident. One that is a lower bound says so; of one that is 0 then, nothing is known. */
export function countOf(incident: Incident, name: Count, write = number): string {
  const value = incident[name];
  if (!incident.at_least?.includes(name)) return write(value);
  return value === 0 ? unknown : `at least ${write(value)}`;
}

/** extentOf says whom an incident hit. */
export function extentOf(incident: Incident): { title: string; text: string }[] {
  const count = (title: string, name: Count, write = number): { title: string; text: string } => ({
    title,
    text: countOf(incident, name, write),
  });
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
      ? `no reports from ${name || source} in this time: it had nothing to report, as nodes that report on events only, or it was silent`
      : `${number(lost)} of ${counted(sent, 'datagram')} of ${name || source} were lost on the way here`,
  );
