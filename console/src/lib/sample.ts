// Which packets figures tell of, as people read it. A mean or a percentile of a biased sample says nothing of all packets.
import type { Sample } from '../api/types';

type Maybe = Sample | null | undefined;

const complete = 0.9995;
/** from the one that is nearest to all packets on */
const kinds = ['every_packet', 'one_in_n', 'unknown', 'partial', 'on_event'];
const rank = (s: Sample): number => kinds.indexOf(s.kind);

/** biased says that a node chooses which packets it reports by what they met. */
export const biased = (s: Maybe): boolean => s?.kind === 'on_event' || s?.kind === 'partial';

/** whole says that figures are of all packets, and need no mark. */
export const whole = (s: Maybe): boolean => s?.kind === 'every_packet' && (s.complete ?? 1) >= complete;

function share(s: Sample): string {
  if (s.complete === undefined || s.complete >= complete) return '';
  return s.complete < 0.01 ? '< 1 %' : `${Math.floor(s.complete * 100)} %`;
}

/** sampleShort is for the cell of a table: on event, 15 %. */
export function sampleShort(s: Maybe): string {
  if (!s) return '–';
  if (whole(s)) return 'all';
  const kind = {
    every_packet: '',
    one_in_n: s.rate ? `1 in ${s.rate}` : '1 in N',
    on_event: 'on event',
    partial: 'some',
  };
  return [kind[s.kind as keyof typeof kind] ?? 'unknown', share(s)].filter((text) => text !== '').join(', ');
}

/** sampleText is what stands beside figures: of reported packets (on event, 15 % of all). Those of all packets have none. */
export function sampleText(s: Maybe): string {
  if (whole(s)) return '';
  if (s?.kind === 'every_packet') return `of ${share(s)} of the packets`;
  const kind = { one_in_n: s?.rate ? `1 in ${s.rate}` : '1 in N', on_event: 'on event', partial: 'some' };
  const of = s && share(s);
  return `of reported packets (${kind[s?.kind as keyof typeof kind] ?? 'sampling unknown'}${of ? `, ${of} of all` : ''})`;
}

/** sampleHint says what follows for the figures. */
export function sampleHint(s: Maybe): string {
  const lost = s && share(s) ? ' Reports of the other packets did not arrive, or were not sent.' : '';
  switch (s?.kind) {
    case 'every_packet':
      return lost ? `All packets are reported.${lost}` : 'All packets are reported.';
    case 'one_in_n':
      return 'Means and percentiles are those of all packets, as far as so many packets tell; a maximum is of the reported ones.';
    case 'on_event':
      return 'Nodes report packets that differ from the one before, and leave out the usual: means and percentiles are not those of all packets.';
    case 'partial':
      return 'Nothing shows how the nodes choose which packets they report: means and percentiles need not be those of all packets.';
    default:
      return 'Nothing shows which packets the nodes report.';
  }
}

/**
 * worst is the sample that holds for figures of several places together: the one that is farthest from all packets; null where none is
 * known, undefined where there is no figure.
 */
export function worst(samples: Maybe[]): Sample | null | undefined {
  const known = samples.filter((s) => s != null).toSorted((a, b) => rank(b) - rank(a));
  const [first] = known;
  if (!first) return samples.length ? null : undefined;
  const all: Sample = { kind: first.kind };
  const rate = Math.max(0, ...known.map((s) => s.rate ?? 0));
  if (first.kind === 'one_in_n' && rate) all.rate = rate;
  const least = Math.min(1, ...known.map((s) => s.complete ?? 1));
  if (least < 1) all.complete = least;
  return all;
}

const parts = ['beginning', 'middle', 'end'];

/** partText says which parts of a path are not known; nothing of a whole path. */
export function partText(unknown: string[] | null | undefined): string {
  const names = parts.filter((part) => unknown?.includes(part));
  return names.length ? `part of a path: ${names.join(' and ')} unknown` : '';
}

/** withParts puts a question mark where a part of a path is not known. */
export function withParts(nodes: string[], unknown: string[] | null | undefined): string {
  const all = [
    ...(unknown?.includes('beginning') ? ['?'] : []),
    ...nodes,
    ...(unknown?.includes('end') ? ['?'] : []),
  ].join(' → ');
  return unknown?.includes('middle') ? `${all} (middle unknown)` : all;
}
