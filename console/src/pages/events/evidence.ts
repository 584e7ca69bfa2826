import { bytes, duration, number } from '../../lib/format';

/** evidence writes a value of an event with its unit. Times and sizes get a readable scale. */
export function evidence(value: number, unit: string | undefined): string {
  if (unit === 'ns') return duration(value);
  if (unit === 'B') return bytes(value);
  const text = Math.abs(value) < 1 && value !== 0 ? value.toPrecision(3) : number(value);
  if (unit === '1/s') return `${text} per second`;
  return unit ? `${text} ${unit}` : text;
}
