import type { Drop } from '../../api/types';

export const recentMs = 60_000;

/**
 * Recent tells how many of the drops that the server counts since its start are of the last minute, by what the counts were in the
 * answers of that time. What began to drop within the minute, or was over before it, needs no other answer; shortMs is for how long all
 * others are known, null: for the minute.
 */
export class Recent {
  #first = 0; // the answer that counts begin with
  #latest = 0;
  #counts = new Map<string, number>();
  #steps: { from: number; more: Map<string, number> }[] = []; // between two answers

  /** read takes an answer at a time of the server in ms, and returns it with the packets of the last minute. */
  read(drops: Drop[], ms: number): { drops: Drop[]; shortMs: number | null } {
    const begin = ms - recentMs;
    if (this.#latest < begin || this.#latest > ms) {
      // also the first answer, and one after the page was hidden
      this.#first = ms;
      this.#counts.clear();
      this.#steps = [];
    } else {
      this.#steps = this.#steps.filter((step) => step.from >= begin);
      this.#steps.push({ from: this.#latest, more: this.#grown(drops) });
    }
    this.#latest = ms;
    this.#counts = new Map(drops.map((drop) => [keyOf(drop), drop.packets]));
    let short = false;
    const recent = drops.map((drop) => {
      if (Date.parse(drop.first) >= begin) return drop;
      if (Date.parse(drop.last) < begin) return { ...drop, packets: 0 };
      short ||= this.#first > begin;
      const key = keyOf(drop);
      return { ...drop, packets: this.#steps.reduce((sum, step) => sum + (step.more.get(key) ?? 0), 0) };
    });
    return { drops: recent, shortMs: short ? ms - this.#first : null };
  }

  /** A count that was not in the answer before says nothing of this step; one that sank began anew. */
  #grown(drops: Drop[]): Map<string, number> {
    const more = new Map<string, number>();
    for (const drop of drops) {
      const was = this.#counts.get(keyOf(drop));
      if (was !== undefined && drop.packets !== was)
        more.set(keyOf(drop), drop.packets > was ? drop.packets - was : drop.packets);
    }
    return more;
  }
}

const keyOf = (d: Drop): string => `${d.node} ${d.ingress_port} ${d.egress_port} ${d.reason}`;
