import { ApiError, get, type Params } from '../../api/client';
import type { List, RawReport } from '../../api/types';

export type RawReports = List<'reports', RawReport> & { next_cursor?: string };

/** asker returns what asks for datagrams. A server that keeps none is asked once only. */
export function asker(): (params: Params, signal: AbortSignal) => Promise<RawReports> {
  let none: ApiError | undefined;
  return async (params, signal) => {
    if (none) throw none;
    try {
      return await get<RawReports>('reports', params, signal, 25_000);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) none = error;
      throw error;
    }
  };
}
