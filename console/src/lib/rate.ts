/** A Rate is the growth per second of a counter that is read now and then, over the last readings. */
export class Rate {
  #readings: { total: number; ms: number }[] = [];

  constructor(readonly spanMs: number) {}

  /** add takes a reading at a time in milliseconds. A counter that sinks began anew. */
  add(total: number, ms: number): void {
    const last = this.#readings.at(-1);
    if (last && total < last.total) this.#readings = [];
    this.#readings.push({ total, ms });
    while (ms - this.#readings[0]!.ms > this.spanMs) this.#readings.shift();
  }

  /** perSecond returns null before the second reading. */
  perSecond(): number | null {
    const [first, last] = [this.#readings[0], this.#readings.at(-1)];
    if (!first || !last || last.ms === first.ms) return null;
    return ((last.total - first.total) * 1000) / (last.ms - first.ms);
  }
}
