import { expect, test } from 'vitest';
import { biased, partText, sampleShort, sampleText, whole, withParts, worst } from '../src/lib/sample';

test.each([
  [{ kind: 'every_packet' }, '', 'all'],
  [{ kind: 'every_packet', complete: 1 }, '', 'all'],
  [{ kind: 'every_packet', complete: 0.996 }, 'of 99 % of the packets', '99 %'],
  [{ kind: 'one_in_n', rate: 10 }, 'of reported packets (1 in 10)', '1 in 10'],
  [{ kind: 'on_event', complete: 0.152 }, 'of reported packets (on event, 15 % of all)', 'on event, 15 %'],
  [{ kind: 'partial', complete: 0.004 }, 'of reported packets (some, < 1 % of all)', 'some, < 1 %'],
  [{ kind: 'unknown' }, 'of reported packets (sampling unknown)', 'unknown'],
  [{ kind: 'a kind of tomorrow' }, 'of reported packets (sampling unknown)', 'unknown'],
  [null, 'of reported packets (sampling unknown)', '–'],
])('figures of %j are not those of all packets', (sample, text, short) => {
  expect(sampleText(sample)).toBe(text);
  expect(sampleShort(sample)).toBe(short);
  expect(whole(sample)).toBe(text === '');
});

test('a sample is biased where packets are chosen by what they met', () => {
  expect(['every_packet', 'one_in_n', 'unknown', 'partial', 'on_event'].filter((kind) => biased({ kind }))).toEqual([
    'partial',
    'on_event',
  ]);
});

test('figures of several places are of the worst of their samples', () => {
  expect(worst([])).toBe(undefined);
  expect(worst([undefined, null])).toBe(null);
  expect(worst([{ kind: 'every_packet' }, undefined])).toEqual({ kind: 'every_packet' });
  expect(
    worst([
      { kind: 'every_packet', complete: 0.5 },
      { kind: 'on_event', complete: 0.9 },
      { kind: 'one_in_n', rate: 7 },
    ]),
  ).toEqual({ kind: 'on_event', complete: 0.5 });
  expect(
    worst([
      { kind: 'one_in_n', rate: 100 },
      { kind: 'one_in_n', rate: 7 },
    ]),
  ).toEqual({ kind: 'one_in_n', rate: 100 });
});

test('a part of a path says that it is one', () => {
  expect(partText(undefined)).toBe('');
  expect(partText([])).toBe('');
  expect(partText(['end', 'beginning'])).toBe('part of a path: beginning and end unknown');
  expect(withParts(['leaf1', 'leaf2'], undefined)).toBe('leaf1 → leaf2');
  expect(withParts(['leaf1', 'leaf2'], ['beginning', 'end'])).toBe('? → leaf1 → leaf2 → ?');
  expect(withParts(['leaf1', 'leaf2'], ['middle'])).toBe('leaf1 → leaf2 (middle unknown)');
});
