import type { Attack } from '../../api/types';
import { bytes, number, percent, words } from '../../lib/format';

type Sign = NonNullable<Attack['evidence']>[number];

/** states say what a state means for who has to act. */
export const states: Record<string, string> = {
  suspected: 'Far more than usual comes, and too few packets were reported to tell what it is.',
  active: 'It goes on and reaches its target: filters drop less than half of it.',
  mitigated: 'The senders go on, and filters drop at least half of it. It is not over.',
  ended: 'Nothing of it comes any more, and no filter drops any of it.',
};

/** adviceOf says what to do about an attack. */
export function adviceOf(
  a: Pick<Attack, 'kind' | 'state' | 'devices' | 'gateways' | 'collateral' | 'filters'>,
): string {
  if (a.kind === 'surge')
    return 'Nothing: somebody asked for this traffic. If the target cannot take it, it needs room.';
  const from = a.devices?.length ? 'the devices below, at the gateways they are behind' : 'what the table below names';
  if (a.state === 'ended')
    return `${a.filters?.length ? 'Take filters back that were set for it, and have' : 'Have'} the devices below looked after: they may send again.`;
  if (a.state === 'mitigated')
    return a.collateral > 0
      ? 'Keep the filters, and make them narrower: they drop packets too that are no part of it.'
      : 'Keep the filters until it has ended.';
  return a.gateways?.length
    ? `Filter ${from}. Filters nearer to the target work too, but everybody on the way shares their links with the attack until there.`
    : 'Filter it as near to its senders as can be: no report says where it comes from.';
}

/** signs say what evidence means. */
const signs: Record<string, (s: Sign) => string> = {
  times_the_floor: (s) => `${number(s.value)} times the rate from which on it counts as an attack`,
  usual: (s) => `usual here: ${number(s.value)} packets a second`,
  answered: (s) => `${percent(s.value)} of the packets have an answer; wanted traffic is answered`,
  mean_length: (s) => `packets of ${bytes(s.value)} in the mean`,
  new_flows: (s) => `${number(s.value)} flows that were not there before`,
  addresses: (s) => `${number(s.value)} addresses of the prefix get it`,
  pulses: (s) => `${number(s.value)} pulses: it stops and comes again`,
  fixed_limit: () => 'more than the fixed limit of the configuration',
  partly_reported: () => 'nodes report some of its packets only: there are at least as many as all numbers say',
};

/** signText is a sign of an attack in words. A share has the name of what it is the share of. */
export const signText = (s: Sign): string =>
  signs[s.name]?.(s) ??
  (s.unit
    ? `${words(s.name)}: ${number(s.value)} ${s.unit}`
    : `${percent(s.value)} of the packets are ${words(s.name)}`);

/** through is how many packets a second no filter drops now; undefined: that is not known. */
export const through = (a: Pick<Attack, 'pps' | 'effectiveness' | 'filtered_packets'>): number | undefined =>
  a.effectiveness === undefined && a.filtered_packets > 0 ? undefined : a.pps * (1 - (a.effectiveness ?? 0));

/** stateText says what the state of an attack means. */
export const stateText = (a: Pick<Attack, 'state' | 'pps' | 'effectiveness' | 'filtered_packets'>): string =>
  a.state === 'active' && through(a) === undefined
    ? 'It goes on. Filters drop some of it, and how much they let through is not known.'
    : states[a.state]!;

/** targetText is what is attacked. */
export const targetText = (a: Pick<Attack, 'target' | 'prefix' | 'port'>): string =>
  `${a.prefix ?? a.target}${a.port === undefined ? '' : ` port ${a.port}`}`;
