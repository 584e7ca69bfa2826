import { untrack } from 'svelte';
import { type ApiError, asApiError } from './client';

/** Whether the server answers, for the whole page. */
class Connection {
  /** null: nothing was asked yet */
  up = $state<boolean | null>(null);
  problem = $state('');
  /** the server's clock at the latest answer, ms since 1970 */
  now = $state<number | null>(null);

  ok(generatedAt: string | undefined): void {
    this.up = true;
    this.problem = '';
    const at = Date.parse(generatedAt ?? '');
    if (!Number.isNaN(at)) this.now = at;
  }

  failed(error: ApiError): void {
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

/** A refused question is an answer too: it is shown where it was asked. */
const unanswered = (error: ApiError): boolean => error.status === 0 || error.status >= 500 || error.status === 429;

const retryMs = 5000;

/** An answer that is asked for again and again. The old one stays while there is no new one. */
export class Live<T> {
  data = $state.raw<T | undefined>();
  error = $state.raw<ApiError | undefined>();
}

/**
 * Polls while the component that calls it exists and the page is visible, one question at a time. ask is called in an effect: when
 * state that it reads changes, the next question starts at once. After a failure it asks again within seconds, so that it recovers by itself.
 * An interval of 0 is for what does not change.
 */
export function live<T>(ask: () => (signal: AbortSignal) => Promise<T>, intervalMs: number | (() => number) = 2000): Live<T> {
  const result = new Live<T>();
  $effect(() => {
    const load = ask();
    const pause = typeof intervalMs === 'number' ? intervalMs : intervalMs();
    const every = pace.held || pause === 0 ? Infinity : pause;
    return untrack(() => poll(load, result, every));
  });
  return result;
}

function poll<T>(load: (signal: AbortSignal) => Promise<T>, result: Live<T>, intervalMs: number): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let current: AbortController | undefined;

  async function round(): Promise<void> {
    if (pace.busy) {
      timer = setTimeout(round, 100);
      return;
    }
    const mine = (current = new AbortController());
    const started = performance.now();
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
    if (every < Infinity) timer = setTimeout(round, Math.max(0, every - (performance.now() - started)));
  }

  function stop(): void {
    clearTimeout(timer);
    const old = current;
    current = undefined;
    old?.abort();
  }

  function visibility(): void {
    stop();
    if (!document.hidden) void round();
  }

  document.addEventListener('visibilitychange', visibility);
  visibility();
  return () => {
    document.removeEventListener('visibilitychange', visibility);
    stop();
  };
}
