import type { Attack } from '../../api/types';

type Point = NonNullable<Attack['history']>[number];

/** A Step is a while of an attack: its packets a second, with those that filters dropped. Times are ms since 1970. */
export interface Step {
  from: number;
  to: number;
  all: number;
  filtered: number;
}

/** stepsOf returns the rates of the history of an attack. */
export const stepsOf = (history: Point[]): Step[] =>
  history
    .filter((p) => p.duration_ns > 0)
    .map((p) => {
      const from = Date.parse(p.at);
      const seconds = p.duration_ns / 1e9;
      return { from, to: from + p.duration_ns / 1e6, all: p.packets / seconds, filtered: p.filtered_packets / seconds };
    });

/** marksOf are the times that the history of an attack is about: filters are told of when they first dropped a packet of it. */
export function marksOf(a: Pick<Attack, 'begin' | 'end' | 'history'>): { at: number; text: string }[] {
  const filter = (a.history ?? []).find((p) => p.filtered_packets > 0);
  return [
    { at: Date.parse(a.begin), text: 'began' },
    ...(filter ? [{ at: Date.parse(filter.at), text: 'filters drop' }] : []),
    ...(a.end ? [{ at: Date.parse(a.end), text: 'ended' }] : []),
  ];
}

/** rowsOf are steps as rows of a table. */
export const rowsOf = (steps: Step[]): string[][] => [
  ['Time', 'Packets a second', 'Dropped by filters a second'],
  ...steps.map((s) => [new Date(s.from).toISOString(), `${s.all}`, `${s.filtered}`]),
];
