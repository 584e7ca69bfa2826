import type { LossList } from '../../api/types';

/** A LedgerStep is a count on the way of reports: what is left of the datagrams, or what went away there. */
export interface LedgerStep {
  name: string;
  count: number;
  /** datagrams before it went away; for what is left, the count itself */ from: number;
  gone: boolean;
  /** it went away, and nothing is lost by that */ mild?: boolean;
  hint: string;
}

export const sum = (counts: Record<string, number> | null | undefined): number =>
  Object.values(counts ?? {}).reduce((a, b) => a + b, 0);

/**
 * ledgerOf adds up the exporters, from what they sent to what was stored. Exporters whose numbers do not count are in it with what
 * arrived, as if nothing of them was lost.
 */
export function ledgerOf(list: LossList): LedgerStep[] {
  const all = list.loss ?? [];
  const add = (value: (l: (typeof all)[number]) => number): number => all.reduce((total, l) => total + value(l), 0);
  const received = add((l) => l.received);
  const lost = add((l) => l.lost ?? 0);
  const kernel = add((l) => l.kernel_drops ?? 0);
  const duplicate = add((l) => l.duplicate ?? 0);
  const malformed = add((l) => sum(l.malformed));
  const damaged = add((l) => sum(l.damaged));
  // What was lost did not come: sent and lost are on top of what was received.
  const offered = received + lost;
  return [
    {
      name: 'Sent',
      count: offered,
      from: offered,
      gone: false,
      hint: 'datagrams received, and those missing by sequence number',
    },
    {
      name: 'Lost in the network',
      count: lost - kernel,
      from: offered,
      gone: true,
      hint: 'missing, without those dropped at the socket',
    },
    {
      name: 'Dropped at the socket',
      count: kernel,
      from: received + kernel,
      gone: true,
      hint: 'the kernel had no room',
    },
    { name: 'Received', count: received, from: received, gone: false, hint: 'datagrams read from the sockets' },
    { name: 'Malformed', count: malformed, from: received, gone: true, hint: 'nothing of them could be read' },
    {
      name: 'Usable',
      count: received - malformed,
      from: received - malformed,
      gone: false,
      hint: `of these, ${damaged.toLocaleString('en')} damaged and ${duplicate.toLocaleString('en')} duplicate`,
    },
  ];
}

/**
 * startedOf returns when this process began, if what is asked for goes back to before that: datagrams are counted on from the one before,
 * and reports are not. Each start that finds a state of before ends a gap.
 */
export const startedOf = (list: LossList): string => list.gaps?.at(-1)?.to ?? '';

/** fateOf goes on with the usable reports, from the tables to the store; what happened in a range may be about reports of before it. */
export function fateOf(list: LossList): LedgerStep[] {
  const all = (list.loss ?? []).flatMap((l) => (l.fate ? [l.fate] : []));
  const add = (value: (f: (typeof all)[number]) => number | null): number =>
    all.reduce((total, f) => total + (value(f) ?? 0), 0);
  const kept = all.some((f) => f.stored !== null);
  const steps: LedgerStep[] = [];
  let left = add((f) => f.reports);
  const stay = (name: string, hint: string): void =>
    void steps.push({ name, count: left, from: left, gone: false, hint });
  const go = (name: string, count: number, hint: string, mild = false): void => {
    steps.push({ name, count, from: left, gone: true, mild, hint });
    left -= count;
  };
  stay('Reports', 'usable ones in these datagrams, since the process began');
  go(
    'Repeated',
    add((f) => f.repeated),
    'their datagrams came before',
    true,
  );
  go(
    'Waiting',
    add((f) => f.waiting),
    'in flight to the tables',
    true,
  );
  go(
    'No flow key',
    add((f) => f.flowless),
    'they name no flow, or are about many packets',
    true,
  );
  go(
    'Table full',
    add((f) => f.kept_out),
    'there was no room for their flow',
  );
  stay('In flows', 'a flow of the tables counted them');
  go(
    'Evicted',
    add((f) => f.evicted),
    'their flow was evicted',
  );
  if (kept)
    go(
      'Dropped by the store',
      add((f) => f.store_dropped),
      'the disk was full or too slow',
    );
  const unfollowed = add((f) => f.unfollowed);
  if (unfollowed > 0)
    go(
      'Not followed',
      unfollowed,
      'their flow has more exporters than are told apart: it counted them, and what became of them is not told',
      true,
    );
  // Of a range it is not known what was held, and what was stored in it may have come before.
  const whole = all.length > 0 && all.every((f) => f.held !== null);
  if (kept && whole)
    go(
      'In flight',
      add((f) => f.held) + add((f) => f.queued),
      'in the tables, and not on the disk yet: they are within seconds',
      true,
    );
  if (kept)
    steps.push({
      name: 'Stored',
      count: add((f) => f.stored),
      from: add((f) => f.stored),
      gone: false,
      hint: 'their records are on disk',
    });
  return steps;
}
