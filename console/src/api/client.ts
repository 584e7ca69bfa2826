import type { FilterError } from './types';

/** What went wrong with a request: a problem of RFC 9457, or no answer at all (status 0). */
export class ApiError extends Error {
  constructor(readonly status: number, message: string, readonly filter?: FilterError) {
    super(message);
  }
}

/** Parameters that are undefined or empty text are left out; null is sent as an empty one. */
export type Params = Record<string, string | number | boolean | null | undefined>;

const usualPatienceMs = 8000;

/** The address of what get asks for, for links to it. */
export function address(path: string, params: Params): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== '') query.set(name, value === null ? '' : String(value));
  }
  return `api/v1/${path}${query.size ? `?${query}` : ''}`;
}

/**
 * Asks for api/v1/{path}, relative to the page. It throws an ApiError, and nothing else. This is the only place that reads the API.
 */
export async function get<T>(path: string, params: Params = {}, signal?: AbortSignal, patienceMs = usualPatienceMs): Promise<T> {
  const url = address(path, params);
  const deadline = AbortSignal.timeout(patienceMs);
  let answer: Response;
  try {
    answer = await fetch(url, {
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline, cache: 'no-store', headers: { Accept: 'application/json' },
    });
    if (answer.ok) return (await answer.json()) as T;
  } catch {
    throw new ApiError(0, deadline.aborted ? `no answer within ${patienceMs / 1000} s` : 'the server does not answer');
  }
  if (answer.status === 401) location.reload(); // the session is over: the server answers with the page to log in at
  const problem = await answer.json().catch(() => ({}));
  throw new ApiError(answer.status, problem.detail ?? `${answer.status} ${answer.statusText}`, problem.filter);
}

/** Ends the session of the browser and goes to the page to log in at. */
export async function logOut(): Promise<void> {
  await fetch('logout', { method: 'POST' }).catch(() => null);
  location.reload();
}
