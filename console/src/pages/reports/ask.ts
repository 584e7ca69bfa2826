import { ApiError, get, type Params } from '../../api/client';
import type { List, RawReport } from '../../api/types';

export type RawReports = List<'reports', RawReport> & { next_cursor?: string };

let none: ApiError | undefined; // what a server that keeps no datagrams said

/** ask asks for datagrams. A server that keeps none is asked once only, whatever pages are opened, until askAnew. */
export async function ask(params: Params, signal: AbortSignal): Promise<RawReports> {
  if (none) throw none;
  try {
    return await get<RawReports>('reports', params, signal);
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) none = error;
    throw error;
  }
}

/** askAnew is for a page that is about datagrams: the server may have begun to keep some. */
export function askAnew(): void {
  none = undefined;
}
