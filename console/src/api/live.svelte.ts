import { untrack } from 'svelte';
import { SvelteSet } from 'svelte/reactivity';
import { type ApiError, asApiError, get } from './client';

/** Whether the server answers, for the whole page. */
class Connection {
  /** null: nothing was asked yet */
  up = $state<boolean | null>(null);
  problem = $state('');
  /** the server's clock at the latest answer, ms since 1970 */
  now = $state<number | null>(null);
  /** when the last answer or failure was, by performance.now */
  heardAt = -Infinity;

  ok(generatedAt: string | undefined): void {
    this.heardAt = performance.now();
    this.up = true;
    this.problem = '';
    const at = Date.parse(generatedAt ?? '');
    if (!Number.isNaN(at)) this.now = at;
  }

  failed(error: ApiError): void {
    this.heardAt = performance.now();
    this.up = !unanswered(error);
    this.problem = this.up ? '' : error.message;
  }
}

export const connection = new Connection();

/** Whether pages about now stand still; they ask once more, and then not until they go on. */
class Pace {
  held = $state(false);
  /** something is being moved by hand, which a large answer would make stutter: the next question waits */
  busy = false;
}

export const pace = new Pace();

const quietMs = 6000; // longer than until a question that failed is asked again, which knows more

/** beat asks for a little where the page asks for nothing, so that it shows soon that the server is gone, or is there again. It returns what ends it. */
export function beat(): () => void {
  const timer = setInterval(() => {
    if (document.hidden || performance.now() - connection.heardAt < quietMs) return;
    connection.heardAt = performance.now();
    get<{ generated_at: string }>('exporters', { limit: 1 }, undefined, quietMs).then(
      (answer) => connection.ok(pace.held ? undefined : answer.generated_at),
      (error: ApiError) => connection.failed(error),
    );
  }, 1000);
  return () => clearInterval(timer);
}

/** A refused question is an answer too: it is shown where it was asked. */
const unanswered = (error: ApiError): boolean => error.status === 0 || error.status >= 500 || error.status === 429;

const retryMs = 5000;

/** What to ask: key says whether it is the same question as before, done after an answer that there is nothing to ask again. */
export interface Asked<T> {
  key?: string;
  load: (signal: AbortSignal) => Promise<T>;
  /** 0: the answer does not change */
  everyMs: number;
  done?: () => boolean;
  /** ask again also for what was refused */
  persistent?: boolean;
}

/**
 * A Poll asks again and again, one question at a time, while the page is visible. It can be cancelled, and the answer before stays while
 * there is no new one. After a failure it asks again within seconds, so that it recovers by itself.
 */
export class Poll<T> {
  data = $state.raw<T | undefined>();
  error = $state.raw<ApiError | undefined>();
  /** since when an answer is waited for, by performance.now; null: none is */
  since = $state<number | null>(null);
  /** it was given up, and is asked no more until again, or until something else is asked */
  cancelled = $state(false);
  /** the data are of another question than the one that is asked */
  stale = $state(false);
  #again = $state(0);
  #key = '';
  #pause: () => void = () => undefined;
  #soon: () => void = () => undefined;

  cancel(): void {
    this.#pause();
    this.cancelled = true;
  }
  again(): void {
    this.cancelled = false;
    this.#again++;
  }
  /** soon asks at once, or when the answer that is waited for is there, unless it was given up or the page stands still. */
  soon(): void {
    if (!this.cancelled) this.#soon();
  }

  /** run polls until the function that it returns is called. It must be called in an effect. */
  run({ key = '', load, everyMs, done, persistent = false }: Asked<T>): () => void {
    void this.#again;
    const intervalMs = pace.held || everyMs === 0 ? Infinity : everyMs;
    return untrack(() => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      let current: AbortController | undefined;
      let wanted = false; // soon was called while an answer was waited for

      const round = async (): Promise<void> => {
        if (pace.busy) {
          timer = setTimeout(round, 100);
          return;
        }
        wanted = false;
        const mine = (current = new AbortController());
        const started = (this.since = performance.now());
        let waitMs = intervalMs;
        try {
          const data = await load(mine.signal);
          if (mine !== current) return;
          this.data = data;
          this.stale = false;
          this.error = undefined;
          if (done?.()) waitMs = Infinity;
          connection.ok((data as { generated_at?: string }).generated_at);
          const took = performance.now() - started;
          waitMs = Math.max(took, waitMs - took); // what takes long is not asked all the time
        } catch (caught) {
          if (mine !== current) return; // stopped
          const error = (this.error = asApiError(caught));
          connection.failed(error);
          waitMs = unanswered(error) || persistent ? Math.min(intervalMs, retryMs) : Infinity; // it would be refused again
        }
        this.since = null;
        if (wanted && !this.error) return void round();
        if (waitMs < Infinity) timer = setTimeout(round, waitMs);
      };
      const pause = (): void => {
        clearTimeout(timer);
        const old = current;
        current = undefined;
        this.since = null;
        old?.abort();
      };
      const visibility = (): void => {
        pause();
        if (!document.hidden && !this.cancelled) void round();
      };

      this.#pause = pause;
      this.#soon = () => {
        if (document.hidden || intervalMs === Infinity || (this.error && !persistent)) return;
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
        pause();
      };
    });
  }
}

/** All that the page polls: what takes long is told, and can be given up, at one place. */
class Polled {
  #all = new SvelteSet<Poll<unknown>>();

  add(poll: Poll<unknown>): void {
    this.#all.add(poll);
  }
  delete(poll: Poll<unknown>): void {
    this.#all.delete(poll);
  }

  /** since when the oldest question waits for its answer, by performance.now; null: none does */
  get since(): number | null {
    const waiting = [...this.#all].flatMap((live) => (live.since === null ? [] : [live.since]));
    return waiting.length ? Math.min(...waiting) : null;
  }
  get cancelled(): boolean {
    return [...this.#all].some((live) => live.cancelled);
  }
  cancel(): void {
    for (const live of this.#all) if (live.since !== null) live.cancel();
  }
  again(): void {
    for (const live of this.#all) if (live.cancelled) live.again();
  }
}

export const polled = new Polled();

/**
 * live polls while the component that calls it exists. ask is called in an effect: when state that it reads changes, the next question
 * starts at once. Its waits are told together with those of the rest of the page. An interval of 0 is for what does not change.
 */
export function live<T>(
  ask: () => (signal: AbortSignal) => Promise<T>,
  intervalMs: number | (() => number) = 2000,
): Poll<T> {
  const result = new Poll<T>();
  $effect(() => {
    untrack(() => polled.add(result));
    return () => polled.delete(result);
  });
  $effect(() => {
    const everyMs = typeof intervalMs === 'number' ? intervalMs : intervalMs();
    return result.run({ load: ask(), everyMs, persistent: true });
  });
  return result;
}

/**
 * question polls for what may take long, while the component that calls it exists. When the key changes, the old question is given up and
 * the next one starts. null: there is nothing to ask.
 */
export function question<T>(ask: () => Asked<T> | null): Poll<T> {
  const q = new Poll<T>();
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
