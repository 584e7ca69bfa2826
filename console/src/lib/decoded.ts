// What bytes are: the layers and fields of POST /api/v1/decode as rows, and which row each byte belongs to.
import type { DecodedField, DecodedLayer } from '../api/types';

export interface DecodedRow {
  key: string;
  depth: number;
  layer: boolean;
  name: string;
  text: string;
  meaning?: string;
  error: boolean;
  offset: number;
  length: number;
  bits?: { first: number; count: number };
}

/** rowsOf lists layers with their fields, and packets that are inside, in the order of the wire. */
export function rowsOf(layers: DecodedLayer[], depth = 0, prefix = ''): DecodedRow[] {
  return layers.flatMap((layer, i) => {
    const key = `${prefix}${i}`;
    return [
      {
        key,
        depth,
        layer: true,
        name: layer.title || layer.name || 'error',
        text: '',
        error: false,
        offset: layer.offset,
        length: layer.length,
      },
      ...fieldsOf(layer.fields ?? [], depth + 1, `${key}.`),
    ];
  });
}

function fieldsOf(fields: DecodedField[], depth: number, prefix: string): DecodedRow[] {
  return fields.flatMap((field, i) => {
    const key = `${prefix}${i}`;
    return [
      {
        key,
        depth,
        layer: false,
        name: field.name,
        text: field.text,
        meaning: field.meaning,
        error: field.error ?? false,
        offset: field.offset,
        length: field.length,
        bits: field.bits,
      },
      ...fieldsOf(field.fields ?? [], depth + 1, `${key}.`),
      ...rowsOf(field.layers ?? [], depth + 1, `${key}/`),
    ];
  });
}

/** owners gives each byte the row that says most about it: the one with the fewest bytes, of equal ones the deepest. */
export function owners(rows: DecodedRow[], length: number): (DecodedRow | null)[] {
  const owner: (DecodedRow | null)[] = Array(length).fill(null);
  for (const row of rows) {
    for (let at = row.offset; at < Math.min(length, row.offset + row.length); at++) {
      const before = owner[at];
      // Of two fields that share a byte, such as version and length of IPv4, the first is taken.
      if (!before || row.length < before.length || (row.length === before.length && row.depth > before.depth))
        owner[at] = row;
    }
  }
  return owner;
}

/** where says in words where a row stands. */
export function where(row: DecodedRow): string {
  if (row.length === 0) return 'in no byte: it follows from others';
  const last = row.offset + row.length - 1;
  const bytes = row.length === 1 ? `byte ${row.offset}` : `bytes ${row.offset} to ${last}`;
  return row.bits ? `${bytes}, bits ${row.bits.first} to ${row.bits.first + row.bits.count - 1}` : bytes;
}

/** fromHex reads hexadecimal digits, with what people put between them; null if there is anything else. */
export function fromHex(text: string): Uint8Array<ArrayBuffer> | null {
  const digits = text.replace(/0x|[\s:,]/gi, '');
  if (digits === '' || digits.length % 2 === 1 || /[^0-9a-f]/i.test(digits)) return null;
  return Uint8Array.from(digits.match(/../g)!, (pair) => Number.parseInt(pair, 16));
}

/** fromBase64 reads the bytes of a report. */
export const fromBase64 = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text), (char) => char.charCodeAt(0));

export const hex = (byte: number, digits = 2): string => byte.toString(16).padStart(digits, '0');
