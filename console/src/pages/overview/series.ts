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
