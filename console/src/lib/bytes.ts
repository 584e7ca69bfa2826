// The filter language counts in bytes of UTF-8, and the browser in units of UTF-16.

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** byteOffset returns how many bytes the first units of text are. */
export const byteOffset = (text: string, units: number): number => encoder.encode(text.slice(0, units)).length;

/** replaceBytes replaces bytes from start to end, and returns the new text and the place behind what was put in. */
export function replaceBytes(text: string, start: number, end: number, by: string): { text: string; cursor: number } {
  const all = encoder.encode(text);
  const head = decoder.decode(all.slice(0, start)) + by;
  return { text: head + decoder.decode(all.slice(end)).trimStart(), cursor: head.length };
}
