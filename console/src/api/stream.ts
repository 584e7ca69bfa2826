import { address, type Params } from './client';

const againMs = 30_000; // after the server refused a stream: all of them may be in use
const restMs = 500; // between two words about changes

/**
 * changes calls told when a stream of the API says something, at once and then at most twice a second, until the function that it
 * returns is called. Whoever polls goes on: a stream only says that it is time to ask. A browser has six connections to a server for
 * all of its tabs, so there is a stream only while the page is seen.
 */
export function changes(
  path: 'attacks/stream' | 'events/stream' | 'incidents/stream',
  params: Params,
  message: 'attack' | 'event' | 'incident',
  told: () => void,
): () => void {
  let source: EventSource | undefined;
  let later: ReturnType<typeof setTimeout> | undefined;
  let rest: ReturnType<typeof setTimeout> | undefined;
  let more = false; // was said while at rest

  function tell(): void {
    if (rest !== undefined) {
      more = true;
      return;
    }
    more = false;
    told();
    rest = setTimeout(() => {
      rest = undefined;
      if (more) tell();
    }, restMs);
  }
  function open(): void {
    const mine = (source = new EventSource(address(path, params)));
    mine.addEventListener(message, tell);
    mine.onerror = () => {
      // one that broke opens itself again, one that was refused does not
      if (mine.readyState === EventSource.CLOSED) later = setTimeout(open, againMs);
    };
  }
  function close(): void {
    clearTimeout(later);
    clearTimeout(rest);
    rest = undefined;
    source?.close();
  }
  function visibility(): void {
    close();
    if (!document.hidden) open();
  }

  document.addEventListener('visibilitychange', visibility);
  visibility();
  return () => {
    document.removeEventListener('visibilitychange', visibility);
    close();
  };
}
