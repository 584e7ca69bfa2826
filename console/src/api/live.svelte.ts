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

/** An answer that is asked for again and again. The old one stays while there is no new one. */
export class Live<T> {
  data = $state.raw<T | undefined>();
  error = $state.raw<ApiError | undefined>();
  /** since when an answer is waited for, by performance.now; null: none is */
  since = $state<number | null>(null);
  /** it was given up, and is asked no more until again, or until something else is asked */
  cancelled = $state(false);
  #again = $state(0);
  #poll: Poll | undefined;

  /** run polls until the function that it returns is called. It must be called in an effect. */
  run(load: (signal: AbortSignal) => Promise<T>, intervalMs: number): () => void {
    void this.#again;
    return untrack(() => {
      this.cancelled = false;
      polled.add(this);
      const mine = (this.#poll = poll(load, this, intervalMs));
      return () => {
        mine.stop();
        polled.delete(this);
      };
    });
  }
  cancel(): void {
    this.#poll?.pause();
    this.cancelled = true;
  }
  again(): void {
    this.#again++;
  }
  /** soon asks at once, or when the answer that is waited for is there, unless it was given up or the page stands still. */
  soon(): void {
    if (!this.cancelled) this.#poll?.soon();
  }
}

/** All that the page polls: what takes long is told, and can be given up, at one place. */
class Polled {
  #all = new SvelteSet<Live<unknown>>();

  add(live: Live<unknown>): void {
    this.#all.add(live);
  }
  delete(live: Live<unknown>): void {
    this.#all.delete(live);
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
 * Polls while the component that calls it exists and the page is visible, one question at a time. ask is called in an effect: when
 * state that it reads changes, the next question starts at once. After a failure it asks again within seconds, so that it recovers by itself.
 * An interval of 0 is for what does not change.
 */
export function live<T>(
  ask: () => (signal: AbortSignal) => Promise<T>,
  intervalMs: number | (() => number) = 2000,
): Live<T> {
  const result = new Live<T>();
  $effect(() => {
    const load = ask();
    const pause = typeof intervalMs === 'number' ? intervalMs : intervalMs();
    const every = pace.held || pause === 0 ? Infinity : pause;
    return result.run(load, every);
  });
  return result;
}

interface Poll {
  stop: () => void;
  pause: () => void;
  soon: () => void;
}

function poll<T>(load: (signal: AbortSignal) => Promise<T>, result: Live<T>, intervalMs: number): Poll {
  let wanted = false; // soon was called while an answer was waited for
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current: AbortController | undefined;

  async function round(): Promise<void> {
    if (pace.busy) {
      timer = setTimeout(round, 100);
      return;
    }
    wanted = false;
    const mine = (current = new AbortController());
    const started = (result.since = performance.now());
    let every = intervalMs;
    try {
      const data = await load(mine.signal);
      if (mine !== current) return;
      result.data = data;
      result.error = undefined;
      connection.ok((data as { generated_at?: string }).generated_at);
    } catch (caught) {
      if (mine !== current) return; // stopped
      const error = asApiError(caught);
      result.error = error;
      connection.failed(error);
      every = Math.min(intervalMs, unanswered(error) ? retryMs : 5000);
    }
    result.since = null;
    if (wanted && !result.error) return void round();
    if (every < Infinity) timer = setTimeout(round, Math.max(0, every - (performance.now() - started)));
  }

  function pause(): void {
    clearTimeout(timer);
    const old = current;
    current = undefined;
    result.since = null;
    old?.abort();
  }

  function visibility(): void {
    pause();
    if (!document.hidden && !result.cancelled) void round();
  }

  document.addEventListener('visibilitychange', visibility);
  visibility();
  return {
    stop: () => {
      document.removeEventListener('visibilitychange', visibility);
      pause();
    },
    pause,
    soon: () => {
      if (document.hidden || intervalMs === Infinity) return;
      if (result.since !== null) {
        wanted = true;
        return;
      }
      clearTimeout(timer);
      void round();
    },
  };
}
