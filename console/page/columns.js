import { age, latency, number, quantile, spread } from './format.js';

// Columns that several tables have.

export const packets = {
  label: 'Packets',
  numeric: true,
  order: 'packets',
  value: (row) => row.packets,
  text: (row) => number(row.packets),
};

// lastSeen sorts by the age that it shows: rows that were seen within the same seconds stand still.
export const lastSeen = {
  label: 'Last seen',
  numeric: true,
  order: 'last',
  value: (row, now) => {
    const then = Date.parse(row.last);
    return now === null ? then : -Math.max(2, Math.floor((now - then) / 1000));
  },
  text: (row, now) => age(Date.parse(row.last), now),
  title: (row) => row.last,
};

// quantileColumn shows p50 or p99 of a distribution in a row.
export function quantileColumn(label, field, name, more = {}) {
  return {
    label,
    numeric: true,
    value: (row) => quantile(row[field], name),
    text: (row) => latency(quantile(row[field], name)),
    title: (row) => spread(row[field]),
    ...more,
  };
}
