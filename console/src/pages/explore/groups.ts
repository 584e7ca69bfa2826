// The filters that select the records of some groups, and those of all others.
import { literal } from '../../lib/filter';
import type { Question, Row } from './question';

/** idOf is a field of long texts that tells groups apart, if they are by one. */
const idOf = (by: string[]): string | undefined => ['id', 'path'].find((name) => by.includes(name));

/** oneOf selects what has the field of one of the groups. */
function oneOf(name: string, groups: Row[]): string {
  const values = new Set(groups.map((row) => row[name]).filter((value) => value != null));
  const list = values.size > 0 ? [`${name} in (${[...values].map((value) => literal(value)).join(', ')})`] : [];
  return [...list, ...(groups.some((row) => row[name] == null) ? [`${name} is null`] : [])].join(' or ');
}

/** allOf selects what has all fields of the group. */
const allOf = (by: string[], row: Row): string =>
  `(${by.map((name) => (row[name] == null ? `${name} is null` : `${name} = ${literal(row[name])}`)).join(' and ')})`;

/**
 * filtersOf selects the records of groups, and those of all others. The store makes the text of an id whenever it looks at one, which takes
 * longer than all else: so one list of ids comes first, and what it tells is looked at no more.
 */
export function filtersOf(q: Question, groups: Row[]): { these: string; others: string } {
  const id = idOf(q.by);
  const terms = [
    ...(id ? [oneOf(id, groups)] : []),
    ...(id && q.by.length === 1 ? [] : [groups.map((row) => allOf(q.by, row)).join(' or ')]),
  ];
  return {
    these: terms.map((term) => `(${term})`).join(' and '),
    others: terms.map((term) => `not (${term})`).join(' or '),
  };
}
