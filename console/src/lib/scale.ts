/** logScale returns a function from a value in [min, max] to its share 0 to 1 on a logarithmic axis. */
export function logScale(min: number, max: number): (value: number) => number {
  const low = Math.log10(Math.max(1, min));
  const high = Math.max(low + 1e-9, Math.log10(Math.max(1, max)));
  return (value) => Math.min(1, Math.max(0, (Math.log10(Math.max(1, value)) - low) / (high - low)));
}

/** decades returns the powers of ten in [min, max]. */
export function decades(min: number, max: number): number[] {
  const ticks: number[] = [];
  for (let tick = 10 ** Math.ceil(Math.log10(Math.max(1, min))); tick <= max; tick *= 10) ticks.push(tick);
  return ticks;
}

/** ticks returns about n round values from 0 to max. */
export function ticks(max: number, n: number): number[] {
  if (!(max > 0)) return [0];
  const rough = max / n;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((m) => m * power >= rough) ?? 10);
  return Array.from({ length: Math.floor(max / step) + 1 }, (_, i) => i * step);
}

/** stacked returns, for each row, its lower and upper edge at each step when the rows stand on one another. */
export function stacked(rows: number[][]): { low: number[]; high: number[] }[] {
  let below: number[] = [];
  return rows.map((row) => {
    const low = row.map((_, i) => below[i] ?? 0);
    const high = row.map((value, i) => low[i]! + value);
    below = high;
    return { low, high };
  });
}
