// Conditions of the filter language, as docs/reference/filter.md describes it.

type Value = string | number | boolean | null | undefined;

/** literal writes a value. Digits, and addresses of them, are what the field wants, and shorter without quotes. */
export const literal = (value: string | number | boolean): string =>
  typeof value !== 'string' || /^[\d.:]+$/.test(value) ? String(value) : `"${value.replaceAll('"', '""')}"`;

/** is says that a field has a value, or is in a prefix; '' where nothing was chosen. */
export function is(field: string, value: Value): string {
  if (value == null || value === '') return '';
  const prefix = typeof value === 'string' && /^[\da-f.:]+\/\d+$/i.test(value);
  return prefix ? `${field} in ${value}` : `${field} = ${literal(value)}`;
}

/** every says that conditions hold together, of which typed is what somebody wrote, in parentheses if it may have alternatives; those that are '' say nothing. */
export function every(typed: string, ...conditions: string[]): string {
  const [own, more] = [typed.trim(), conditions.filter((condition) => condition !== '').join(' and ')];
  return own && more ? `${/\bor\b/i.test(own) ? `(${own})` : own} and ${more}` : own || more;
}
