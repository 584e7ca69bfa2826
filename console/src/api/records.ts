import { ApiError, get } from './client';

/** keepsRecords tells whether the server keeps records, so that pages about a time range have something to show. */
export const keepsRecords = (): Promise<boolean> =>
  get('events', { since: '1s', limit: 1 }).then(
    () => true,
    (error: unknown) => !(error instanceof ApiError && error.status === 404),
  );
