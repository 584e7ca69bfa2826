// The period that charts over time are compared with.
import { ApiError, get, type Params } from '../api/client';
import { parseSpan, spanParams, writeLength } from './time';

const day = 86_400_000;

/** The choices, by their name in the address. */
export const compares = { '': 'nothing', before: 'the time before', day: 'a day earlier', week: 'a week earlier' };

/** shiftOf is how long before a range of a length the period begins that it is compared with, in ms; 0: with none. */
export const shiftOf = (choice: string, lengthMs: number): number =>
  ({ before: lengthMs, day, week: 7 * day })[choice] ?? 0;

/** shifted are the parameters of that period. */
export const shifted = (from: number, to: number, shiftMs: number): { since: string; until: string } => ({
  since: new Date(from - shiftMs).toISOString(),
  until: new Date(to - shiftMs).toISOString(),
});

/** earlier are the parameters of that period where a range is asked for by parameters: it goes along with one that does. */
export function earlier(
  range: { since?: string; until?: string },
  shiftMs: number,
): { since?: string; until?: string } {
  const span = parseSpan(range.since ?? '', range.until ?? '');
  if (span.kind === 'last') return { since: writeLength(span.ms + shiftMs), until: writeLength(shiftMs) };
  return span.kind === 'fixed' ? shifted(span.from, span.to, shiftMs) : spanParams(span);
}

/**
 * before asks about that period, of which of are the parameters. It is undefined where nothing is compared, and null
 * where the server has no record of any report of then, or none any more that can answer.
 */
export async function before<T, P extends Params>(
  shiftMs: number,
  of: P,
  load: (of: P) => Promise<T>,
): Promise<T | null | undefined> {
  if (shiftMs === 0) return undefined;
  try {
    const [then, { exporters }] = await Promise.all([
      load(of),
      get<{ exporters: unknown[] | null }>('exporters', { ...of, limit: 1 }),
    ]);
    return exporters?.length ? then : null;
  } catch (error) {
    if (error instanceof ApiError && error.status === 400) return null;
    throw error;
  }
}

/** moved puts pieces of that period where those of the range are that they are compared with. */
export const moved = <T extends { at: number }>(pieces: T[], shiftMs: number): T[] =>
  pieces.map((piece) => ({ ...piece, at: piece.at + shiftMs }));
