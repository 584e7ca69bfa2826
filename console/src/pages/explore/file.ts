import type { Params } from '../../api/client';

export type Format = 'csv' | 'parquet' | 'ndjson';
type Page = (params: Params) => Promise<{ bytes: Uint8Array<ArrayBuffer>; next: string }>;

/** A File is what was asked for in a format; cut: only the first mostRecords of it, since there is no room for more. */
export interface File {
  parts: Uint8Array<ArrayBuffer>[];
  cut: boolean;
  mostRecords: number;
}

const pageRecords = 100_000; // as many as the API answers at once
const mostPages = 10; // of about 15 MB each

/**
 * fileOf asks for all records, page after page, and puts the pages together. A Parquet file ends with an index of all that is in it, so
 * that two of them do not make one: it has one page.
 */
export async function fileOf(
  format: Format,
  params: Params,
  ask: Page,
  progress: (bytes: number) => void,
): Promise<File> {
  const most = format === 'parquet' ? 1 : mostPages;
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let cursor = '';
  for (;;) {
    const { bytes, next } = await ask({ ...params, limit: pageRecords, format, cursor });
    parts.push(format === 'csv' && cursor ? bytes.subarray(bytes.indexOf(10) + 1) : bytes); // the names of the columns stand once
    progress(parts.reduce((sum, part) => sum + part.length, 0));
    cursor = next;
    if (!cursor || parts.length >= most) return { parts, cut: cursor !== '', mostRecords: most * pageRecords };
  }
}

/** fileName says of a file that is cut that it is. */
export const fileName = (name: string, format: Format, file: File): string =>
  `${name}${file.cut ? `-first-${file.mostRecords}` : ''}.${format}`;
