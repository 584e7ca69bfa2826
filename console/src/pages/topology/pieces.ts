// The pieces that a replay goes through.

/** latestWhole returns which of count pieces is the latest of which all records are there, if those of before writtenMs are; 0 if none is. */
export const latestWhole = (from: number, stepMs: number, count: number, writtenMs: number): number =>
  Math.min(count - 1, Math.max(0, Math.floor((writtenMs - from) / stepMs) - 1));

/** writtenOf returns until when all records were on disk that answers are made of: each says with its until how far it goes. */
export const writtenOf = (answers: { until: string }[]): number =>
  Math.min(...answers.map(({ until }) => Date.parse(until)));
