import { expect, test } from 'vitest';
import type { Event } from '../src/api/types';
import { viewsOf, whenOf } from '../src/pages/events/view';

const event = (more: Partial<Event>): Event =>
  ({
    id: '1',
    kind: 'drop_storm',
    severity: 'warning',
    start: '2026-01-15T10:00:00.5Z',
    end: '2026-01-15T10:00:20Z',
    count: 1,
    text: '',
    evidence: [],
    ...more,
  }) as Event;
const later = Date.parse('2026-01-15T12:00:00Z');

test('an event that is over is shown in its time, one that goes on as it is', () => {
  expect(whenOf(event({}), later)).toEqual({ since: '2026-01-15T09:59:00.000Z', until: '2026-01-15T10:01:20.000Z' });
  expect(whenOf(event({}), Date.parse('2026-01-15T10:01:00Z'))).toEqual({ since: '2m', until: '' });
  expect(whenOf(event({ end: null }), later)).toEqual({});
});

test('links of events have place, reason and time', () => {
  const when = whenOf(event({}), later);
  const to = (e: Event, title: string): object | undefined =>
    viewsOf(e, when).find((view) => view.title === title)?.params;
  const drops = to(event({ node: 1, port: 6, reason: 0 }), 'Drops there');
  expect(drops).toEqual({ node: 1, reason: 0, filter: 'egress_port = 6', ...when });
  const lost = to(event({ kind: 'link_lost', node: 12, port: 1, to_node: 3, to_port: 2 }), 'In the topology');
  expect(lost).toEqual({ link: '3 12', at: '2026-01-15T10:00:10.250Z', ...when });
  const slow = to(event({ kind: 'latency_anomaly', node: 12, port: 1, to_node: 3, to_port: 2 }), 'Latency there');
  expect(slow).toEqual({ of: 'links', from: 12, out: 1, to: 3, in: 2, ...when });
});
