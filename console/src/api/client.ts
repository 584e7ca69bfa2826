import { fits } from './shape';
import type { DecodeAnswer, FilterError } from './types';

/** What went wrong with a request: a problem of RFC 9457, or no answer at all (status 0). */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly filter?: FilterError,
  ) {
    super(message);
  }
}

/** asApiError is what a loop makes of what it meets: whatever it is, it is shown, and the loop goes on. */
export const asApiError = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError(0, `the answer cannot be shown (${String(error)})`);

/** Parameters that are undefined or empty text are left out; null is sent as an empty one. */
export type Params = Record<string, string | number | boolean | null | undefined>;

/** patienceMs is how long an answer is waited for: longer than the server's own limit of 20 s, so that its word is heard. */
export const patienceMs = 25_000;

/** The address of what get asks for, for links to it. */
export function address(path: string, params: Params): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value !== undefined && value !== '') query.set(name, value === null ? '' : String(value));
  }
  return `api/v1/${path}${query.size ? `?${query}` : ''}`;
}

/** Asks for api/v1/{path}, relative to the page. It throws an ApiError, and nothing else. Only this file and stream.ts read the API. */
export const get = <T>(path: string, params: Params = {}, signal?: AbortSignal, patience = patienceMs): Promise<T> =>
  ask<T>(path, params, { cache: 'no-store' }, signal, patience);

/** Changes something. It throws as get does. What was taken away may leave no answer, which is null. */
export const send = <T>(method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<T> =>
  ask<T>(
    path,
    {},
    {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    },
  );

/** Asks what bytes are. start says what they begin with, by default a telemetry report; dialect who made them. */
export const decode = (
  bytes: Uint8Array<ArrayBuffer>,
  params: { start?: string; dialect?: string } = {},
  signal?: AbortSignal,
): Promise<DecodeAnswer> =>
  ask<DecodeAnswer>(
    'decode',
    params,
    { method: 'POST', body: bytes, headers: { 'Content-Type': 'application/octet-stream' } },
    signal,
  );

async function ask<T>(
  path: string,
  params: Params,
  init: RequestInit,
  signal?: AbortSignal,
  patience = patienceMs,
): Promise<T> {
  const deadline = AbortSignal.timeout(patience);
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(address(path, params), {
      ...init,
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
      headers: { Accept: 'application/json', ...init.headers },
    });
    text = await answer.text(); // which may come late, or break off: that is no answer either
  } catch {
    throw new ApiError(0, deadline.aborted ? `no answer within ${patience / 1000} s` : 'the server does not answer');
  }
  const value = parsed(text);
  if (answer.ok && ((answer.status === 204 && init.method === 'DELETE') || fits(path, value, init.method)))
    return value as T;
  if (answer.ok) throw new ApiError(0, 'the answer is not that of a Waybill server');
  if (answer.status === 401) location.reload(); // the session is over: the server answers with the page to log in at
  const problem = (value ?? {}) as { detail?: unknown; filter?: FilterError };
  throw new ApiError(
    answer.status,
    typeof problem.detail === 'string' ? problem.detail : `${answer.status} ${answer.statusText}`,
    problem.filter,
  );
}

/**
 * Asks for a page of a list in a format other than JSON, and throws as get does. next is the cursor of the page that follows, empty at
 * the end of the list. There is no deadline: who waits for a file sees how far it is and can cancel.
 */
export async function page(
  path: string,
  params: Params,
  signal: AbortSignal,
): Promise<{ bytes: Uint8Array<ArrayBuffer>; next: string }> {
  let answer: Response;
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    answer = await fetch(address(path, params), { cache: 'no-store', signal });
    bytes = new Uint8Array(await answer.arrayBuffer());
  } catch {
    throw new ApiError(0, 'the server does not answer');
  }
  if (!answer.ok) {
    const problem = (parsed(new TextDecoder().decode(bytes)) ?? {}) as { detail?: string };
    throw new ApiError(answer.status, problem.detail ?? `${answer.status} ${answer.statusText}`);
  }
  const link = /<\?([^>]*)>; rel="next"/.exec(answer.headers.get('Link') ?? '');
  return { bytes, next: new URLSearchParams(link?.[1]).get('cursor') ?? '' };
}

function parsed(text: string): unknown {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    // of a proxy, perhaps
    return undefined;
  }
}

/** Ends the session of the browser and goes to the page to log in at. */
export async function logOut(): Promise<void> {
  await fetch('logout', { method: 'POST' }).catch(() => null);
  location.reload();
}
