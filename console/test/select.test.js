import assert from 'node:assert/strict';
import test from 'node:test';
import { dropMatches } from '../page/drops.js';
import { eventMatches } from '../page/events.js';
import { flowCountText } from '../page/flows.js';
import { hopName, pathText } from '../page/hops.js';
import { matchesText, passes, shownPath, steps, wordsOf } from '../page/select.js';
import { sortRows } from '../page/table.js';
import { targetOf } from '../page/welcome.js';

const hop = (node, ingress_port, egress_port, more) => ({ node, ingress_port, egress_port, ...more });
const whole = [hop(1, 1, 2), hop(2, 3, 4), hop(3, 5, 6)];
const holed = [hop(1, 1, 2), hop(null, null, null, { missing: 2 }), hop(3, 5, 6)];

test('steps count the silent nodes in between', () => {
  assert.deepEqual(steps(holed).map(({ from, to, silent }) => [from.node, to.node, silent]), [[1, 3, 2]]);
  assert.deepEqual(steps([hop(1), hop(null), hop(3)]).map((step) => step.silent), [1]);
  assert.deepEqual(steps([hop(null), hop(3)]), []);
});

test('a selection is a node, or a cable in either direction', () => {
  const cable = { a: { node: 1, port: 2 }, b: { node: 2, port: 3 }, silent: 0 };
  assert.ok(passes(whole, null));
  assert.ok(passes(whole, { node: 2 }));
  assert.ok(!passes(holed, { node: 2 }));
  assert.ok(passes(whole, cable));
  assert.ok(passes([hop(2, 4, 3), hop(1, 2, 1)], cable));
  assert.ok(!passes([hop(1, 1, 9), hop(2, 3, 4)], cable));
  assert.ok(!passes(holed, { a: { node: 1, port: 2 }, b: { node: 3, port: 5 }, silent: 0 }));
  assert.ok(passes(holed, { a: { node: 1, port: 2 }, b: { node: 3, port: 5 }, silent: 2 }));
  assert.ok(passes([hop(1, null, null), hop(2, null, null)], { a: { node: 1, port: null }, b: { node: 2, port: null }, silent: 0 }));
});

test('a flow shows the latest path through what is selected', () => {
  const flow = { paths: [{ id: 'b', hops: holed }, { id: 'a', hops: whole }] };
  assert.equal(shownPath(flow, null).id, 'b');
  assert.equal(shownPath(flow, { node: 2 }).id, 'a');
  assert.equal(shownPath(flow, { node: 7 }), undefined);
});

test('events belong to a node that takes part, and to a cable in either direction', () => {
  const cable = { a: { node: 1, port: 2 }, b: { node: 2, port: 3 } };
  const lost = { node: 2, port: 3, to_node: 1, to_port: 2 };
  assert.ok(eventMatches({}, null));
  assert.ok(eventMatches(lost, { node: 1 }) && eventMatches(lost, { node: 2 }) && !eventMatches(lost, { node: 3 }));
  assert.ok(eventMatches(lost, cable));
  assert.ok(!eventMatches({ ...lost, port: 9 }, cable));
  assert.ok(eventMatches({ node: 1, port: 2 }, cable));
  assert.ok(!eventMatches({ node: 1, port: 4 }, cable));
  assert.ok(!eventMatches({ source: '10.0.0.1' }, { a: { node: 1, port: null }, b: { node: 2, port: null } }));
});

test('drops belong to a node, or to a cable that the packets came or would have left by', () => {
  const cable = { a: { node: 1, port: 2 }, b: { node: 2, port: 3 } };
  assert.ok(dropMatches({ node: 2, ingress_port: 3, egress_port: null }, cable));
  assert.ok(dropMatches({ node: 1, ingress_port: 9, egress_port: 2 }, cable));
  assert.ok(!dropMatches({ node: 2, ingress_port: 4, egress_port: null }, cable));
  assert.ok(!dropMatches({ node: 2, ingress_port: null, egress_port: null }, { a: { node: 1, port: null }, b: { node: 2, port: null } }));
  assert.ok(!dropMatches({ node: null }, { node: 2 }));
});

test('hops are named, or a question mark', () => {
  assert.equal(pathText([hop(1, 0, 0, { name: 's1' }), hop(null), hop(null, 0, 0, { missing: 3 }), hop(4)]), 's1 → ? → ? ×3 → node 4');
  assert.equal(hopName(hop(0)), 'node 0');
});

test('every word must occur', () => {
  assert.ok(matchesText(wordsOf(' TCP  10.0.1 '), ['10.0.1.1:80', 'tcp']));
  assert.ok(!matchesText(wordsOf('tcp udp'), ['10.0.1.1:80', 'tcp']));
  assert.ok(matchesText([], ['anything']));
});

test('the count says what is left out', () => {
  assert.equal(flowCountText(12, 12, 12, 'packets'), '12');
  assert.equal(flowCountText(3, 12, 12, 'packets'), '3 of 12');
  assert.equal(flowCountText(200, 200, 5312, 'packets'), 'the 200 with most packets, of 5,312');
  assert.equal(flowCountText(7, 200, 5312, 'last'), '7 of the 200 seen latest, of 5,312');
});

test('rows without a value come last, equal ones stand still', () => {
  const rows = [{ id: 'b', v: 1 }, { id: 'n', v: null }, { id: 'a', v: 1 }, { id: 'c', v: 2 }];
  const order = (descending) => sortRows(rows, (row) => row.v, descending, (row) => row.id).map((row) => row.id).join('');
  assert.equal(order(true), 'cabn');
  assert.equal(order(false), 'abcn');
});

test('a target is the address of a listener as the browser sees it', () => {
  const cases = [['udp://[::]:8555', 'fabric.example:8555'], ['udp://0.0.0.0:6000', 'fabric.example:6000'], ['udp://:8555', 'fabric.example:8555'],
    ['192.0.2.7:32766', '192.0.2.7:32766'], ['udp://[2001:db8::7]:54321', '[2001:db8::7]:54321']];
  for (const [address, want] of cases) assert.equal(targetOf({ address }, 'fabric.example'), want);
});
