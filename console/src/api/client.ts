import type { FilterError } from './types';

/** What went wrong with a request: a problem of RFC 9457, or no answer at all (status 0). */
export class ApiError extends Error {
  constructor(readonly status: number, message: string, readonly filter?: FilterError) {
    super(message);
  }
}

export type Params = Record<string, string | number | boolean | undefined>;

const patienceMs = 8000;

/**
 * Asks for api/v1/{path}, relative to the page; parameters that are undefined or empty are left out. It throws an ApiError, and
 * nothing else. This is the only place that reads the API.
 */
export async function get<T>(path: string, params: Params = {}, signal?: AbortSignal): Promise<T> {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== '') query.set(name, String(value));
  }
  const url = `api/v1/${path}${query.size ? `?${query}` : ''}`;
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
