// The time range that all pages share. It is in the address, as since and until.
import { connection } from '../api/live.svelte';
import { kept, route } from './route.svelte';
import { parseSpan, spanParams, type Span } from './time';

/** Pages that are never about now: the range that they are about if the address has none. */
const usual: Record<string, Span> = { explore: { kind: 'last', ms: 3_600_000 } };

class Range {
  get span(): Span {
    const span = parseSpan(route.get('since'), route.get('until'));
    return span.kind === 'now' ? (usual[route.page] ?? span) : span;
  }

  /** Whether the page can be about now. */
  get canBeNow(): boolean {
    return !(route.page in usual);
  }

  /** Whether the page is about a range, and not about what the server has in memory now. */
  get past(): boolean {
    return this.span.kind !== 'now';
  }

  /** since and until for the API. */
  get params(): { since?: string; until?: string } {
    return spanParams(this.span);
  }

  /** From and to, as far as can be told before an answer says it: by the server's clock, and the browser's as long as that is not known. */
  get bounds(): { from: number; to: number } {
    const span = this.span;
    if (span.kind === 'fixed') return span;
    const now = connection.now ?? Date.now();
    return { from: now - (span.kind === 'last' ? span.ms : 15 * 60_000), to: now };
  }

  get length(): number {
    const { from, to } = this.bounds;
    return to - from;
  }

  /** set chooses a range: a step in the history. */
  set(span: Span, zooms: Span[] = []): void {
    const { since = '', until = '' } = spanParams(span);
    const at = Date.parse(route.get('at')); // the moment of a replay
    const inside =
      span.kind === 'fixed'
        ? at >= span.from && at < span.to
        : span.kind === 'last' && at >= (connection.now ?? Date.now()) - span.ms;
    route.change({ since, until, at: inside ? route.get('at') : '' }, zooms);
  }

  /** zoom goes to a part of the range; back, and the browser's Back, return. */
  zoom(from: number, to: number): void {
    const whole = {
      from: Math.floor(Math.min(from, to) / 1000) * 1000,
      to: Math.ceil(Math.max(from, to) / 1000) * 1000,
    };
    this.set({ kind: 'fixed', ...whole }, [...(kept().zooms ?? []), this.span]);
  }

  /** unzoom takes the last zoom back, and says whether there was one. */
  unzoom(): boolean {
    const zooms = kept().zooms ?? [];
    const last = zooms.at(-1);
    if (last) this.set(last, zooms.slice(0, -1));
    return last !== undefined;
  }

  /** back takes the last zoom back, or else shows twice as much. */
  back(): void {
    if (this.unzoom()) return;
    const { from, to } = this.bounds;
    const half = (to - from) / 2;
    this.set({ kind: 'fixed', from: from - half, to: Math.min(to + half, connection.now ?? Date.now()) });
  }

  /** shift moves by a share of the length, below 0 to the past. It stops at now, which it then follows. */
  shift(share: number): void {
    const { from, to } = this.bounds;
    const length = to - from;
    const now = connection.now ?? Date.now();
    if (to + share * length >= now) this.set({ kind: 'last', ms: Math.max(1000, Math.round(length / 1000) * 1000) });
    else this.set({ kind: 'fixed', from: from + share * length, to: to + share * length });
  }

  /** hold stops at what is shown. */
  hold(): void {
    this.set({ kind: 'fixed', ...this.bounds });
  }

  /** follow goes on with the latest of the same length. */
  follow(): void {
    this.set({ kind: 'last', ms: Math.max(1000, Math.round(this.length / 1000) * 1000) });
  }
}

export const range = new Range();
