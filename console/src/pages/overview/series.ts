/** series puts numbers of records into pieces of a range: null where there is no record. */
export function series<T extends { start?: string }>(
  records: T[],
  value: (record: T) => number | null,
  from: number,
  to: number,
  stepMs: number,
): (number | null)[] {
  const first = Math.floor(from / stepMs) * stepMs;
  const values: (number | null)[] = Array(Math.max(1, Math.ceil((to - first) / stepMs))).fill(null);
  for (const record of records) {
    const at = Math.floor((Date.parse(record.start ?? '') - first) / stepMs);
    const n = value(record);
    if (n !== null && at >= 0 && at < values.length) values[at] = (values[at] ?? 0) + n;
  }
  return values;
}

/** covered returns the part of a range from the first to the last piece that has a record; null if none has one. */
export function covered(
  records: { start?: string }[],
  from: number,
  to: number,
  stepMs: number,
): { from: number; to: number } | null {
  const starts = records.map((record) => Date.parse(record.start ?? '')).filter((at) => at < to && at + stepMs > from);
  if (starts.length === 0) return null;
  return { from: Math.max(from, Math.min(...starts)), to: Math.min(to, Math.max(...starts) + stepMs) };
}

/**
 * refined is what covered returns, of pieces of stepMs, as exactly as finer pieces tell: ask returns the records of one of them, and how long
 * the finer ones are. Where a server began in the middle of a piece of 12 h, the rate over all of it would be a fraction of what there was.
 */
export async function refined(
  told: { from: number; to: number } | null,
  stepMs: number,
  ask: (from: number, to: number) => Promise<{ records: { start?: string }[]; stepMs: number }>,
): Promise<{ from: number; to: number } | null> {
  if (!told) return null;
  const edge = async (at: number): Promise<{ from: number; to: number }> => {
    const first = Math.floor(at / stepMs) * stepMs;
    const [from, to] = [Math.max(first, told.from), Math.min(first + stepMs, told.to)];
    const finer = await ask(from, to);
    return covered(finer.records, from, to, finer.stepMs) ?? { from, to };
  };
  const [first, last] = await Promise.all([edge(told.from), edge(told.to - 1)]);
  return { from: first.from, to: last.to };
}

/** inside returns how much of the piece that begins at start is in a part of the range, in milliseconds. */
export function inside(start: number, stepMs: number, part: { from: number; to: number }): number {
  return Math.min(start + stepMs, part.to) - Math.max(start, part.from);
}
