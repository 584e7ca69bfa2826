import { untrack } from 'svelte';
import { type ApiError, asApiError } from './client';
import { connection, pace } from './live.svelte';

export { patienceMs } from './client';
const retryMs = 5000;

/** A Question is one that may take long. It can be cancelled, and the answer before stays while there is no new one. */
export class Question<T> {
  data = $state.raw<T | undefined>();
  error = $state.raw<ApiError | undefined>();
  /** since when an answer is waited for, by performance.now; null: none is */
  since = $state<number | null>(null);
  cancelled = $state(false);
  /** the data are of another question than the one that is asked */
  stale = $state(false);
  #again = $state(0);
  #key = '';
  #stop: () => void = () => undefined;
  #soon: () => void = () => undefined;

  cancel(): void {
    this.#stop();
    this.cancelled = true;
  }

  again(): void {
    this.cancelled = false;
    this.#again++;
  }

  /** soon asks at once, or when the answer that is waited for is there; not what was given up or refused, or does not change. */
  soon(): void {
    if (!this.cancelled && !this.error) this.#soon();
  }

  /** run asks, and again every everyMs unless that is 0 or the page stands still. It must be called in an effect, whose cleanup it returns. */
  run({ key, load, everyMs: wanted, done }: Asked<T>): () => void {
    void this.#again;
    const everyMs = pace.held ? 0 : wanted;
    return untrack(() => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      let current: AbortController | undefined;
      let wanted = false; // soon was called while an answer was waited for
      const round = async (): Promise<void> => {
        wanted = false;
        const mine = (current = new AbortController());
        this.since = performance.now();
        let next = everyMs;
        try {
          const data = await load(mine.signal);
          if (mine !== current) return;
          this.data = data;
          this.stale = false;
          this.error = undefined;
          if (done?.()) next = 0;
          connection.ok((data as { generated_at?: string }).generated_at);
        } catch (caught) {
          if (mine !== current) return; // stopped
          const error = asApiError(caught);
          this.error = error;
          connection.failed(error);
          if (error.status === 0 || error.status >= 500 || error.status === 429) next = Math.max(retryMs, everyMs);
          else next = 0; // it would be refused again
        }
        this.since = null;
        if (wanted && !this.error) return void round();
        if (next > 0) timer = setTimeout(round, next);
      };
      const stop = (): void => {
        clearTimeout(timer);
        const old = current;
        current = undefined;
        old?.abort();
        this.since = null;
      };
      const visibility = (): void => {
        if (document.hidden) stop();
        else if (!this.cancelled && current === undefined) void round();
      };
      this.#stop = stop;
      this.#soon = () => {
        if (everyMs === 0 || document.hidden) return;
        if (this.since !== null) {
          wanted = true;
          return;
        }
        clearTimeout(timer);
        void round();
      };
      this.cancelled = false;
      if (key !== this.#key) this.stale = true;
      this.#key = key;
      document.addEventListener('visibilitychange', visibility);
      visibility();
      return () => {
        document.removeEventListener('visibilitychange', visibility);
        stop();
      };
    });
  }
}

/** What to ask: key says whether it is the same question as before, done after an answer that there is nothing to ask again. */
export interface Asked<T> {
  key: string;
  load: (signal: AbortSignal) => Promise<T>;
  everyMs: number;
  done?: () => boolean;
}

/**
 * question asks while the component that calls it exists. When the key changes, the old question is given up and the next one
 * starts. null: there is nothing to ask.
 */
export function question<T>(ask: () => Asked<T> | null): Question<T> {
  const q = new Question<T>();
  const key = $derived(ask()?.key);
  $effect(() => {
    void key;
    const next = untrack(ask);
    if (next) return q.run(next);
    q.data = undefined;
    q.error = undefined;
    return undefined;
  });
  return q;
}
