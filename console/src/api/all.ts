import { get, type Params } from './client';
import type { History } from './types';

const pages = 5; // at most, of 10000 items

/** all asks for a list of a time range page by page, and puts the pages together. */
export async function all<Name extends string, T>(
  name: Name,
  params: Params,
  signal?: AbortSignal,
): Promise<History<Name, T>> {
  const ask = (cursor?: string): Promise<History<Name, T>> =>
    get<History<Name, T>>(name, { ...params, limit: 10000, cursor }, signal);
  const first = await ask();
  let items: T[] = first[name] ?? [];
  let next = first.next_cursor;
  for (let i = 1; next && i < pages; i++) {
    const page = await ask(next);
    items = items.concat(page[name] ?? []);
    next = page.next_cursor;
  }
  return { ...first, [name]: items, next_cursor: next };
}
