// The period that charts over time are compared with.
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
