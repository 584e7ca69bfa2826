import assert from 'node:assert/strict';
import test from 'node:test';
import * as f from '../page/format.js';

test('latency has three digits and a unit', () => {
  const cases = [[0, '0 ns'], [1, '1 ns'], [850, '850 ns'], [999, '999 ns'], [1000, '1 µs'], [1234, '1.23 µs'], [12_449, '12.4 µs'],
    [99_960, '100 µs'], [999_400, '999 µs'], [999_600, '1 ms'], [1_500_000, '1.5 ms'], [4_294_967_295, '4.29 s'], [651.5, '652 ns']];
  for (const [ns, want] of cases) assert.equal(f.latency(ns), want);
});

test('what is not known is a dash, never 0', () => {
  for (const write of [f.latency, f.number, f.compact, f.percent, f.clock, f.date]) {
    assert.equal(write(null), '–');
    assert.equal(write(undefined), '–');
  }
  assert.equal(f.age(Date.now(), null), '–');
  assert.equal(f.age(NaN, 0), '–');
});

test('a quantile without an error was not kept', () => {
  const kept = { count: 3, min: 0, mean: 1, max: 3, p50: 0, p99: 3, relative_error: 0.01 };
  const notKept = { count: 3, min: 5, mean: 6.4, max: 9, p50: 0, p99: 0, relative_error: 0 };
  assert.equal(f.quantile(kept, 'p50'), 0);
  assert.equal(f.quantile(notKept, 'p50'), null);
  assert.equal(f.quantile(undefined, 'p99'), null);
  assert.equal(f.typical(notKept), 6.4);
  assert.equal(f.typical(undefined), null);
  assert.equal(f.spread(notKept), 'min 5 ns, mean 6.4 ns, max 9 ns of 3 samples');
  assert.equal(f.spread(undefined), 'not measured');
});

test('counts', () => {
  assert.equal(f.number(1234567), '1,234,567');
  assert.equal(f.counted(1, 'flow'), '1 flow');
  assert.equal(f.counted(0, 'flow'), '0 flows');
  const cases = [[0, '0'], [999, '999'], [1000, '1k'], [1234, '1.23k'], [999_999, '1M'], [45_600_000, '45.6M']];
  for (const [n, want] of cases) assert.equal(f.compact(n), want);
});

test('percent is cut: 100 % is said only of all', () => {
  assert.equal(f.percent(1), '100 %');
  assert.equal(f.percent(0.9999999), '99.99 %');
  assert.equal(f.percent(0.5), '50 %');
  assert.equal(f.percent(0), '0 %');
});

test('age', () => {
  const now = Date.parse('2025-11-21T10:15:00Z');
  const cases = [[-5, 'now'], [2, 'now'], [3, '3 s ago'], [119, '119 s ago'], [120, '2 min ago'], [7200, '2 h ago'], [172800, '2 days ago']];
  for (const [seconds, want] of cases) assert.equal(f.age(now - seconds * 1000, now), want);
  assert.equal(f.clock(now), '10:15:00 UTC');
  assert.equal(f.date(now), '2025-11-21');
});

test('names and addresses', () => {
  assert.equal(f.nodeName(7, undefined), 'node 7');
  assert.equal(f.nodeName(0, ''), 'node 0');
  assert.equal(f.nodeName(7, 's7'), 's7');
  assert.equal(f.nodeName(null), 'unknown');
  assert.equal(f.address('2001:db8::1', 443), '[2001:db8::1]:443');
  assert.equal(f.endpoint({ src: '10.0.0.1', src_port: 0, dst: '10.0.0.2', dst_port: 0 }, 'dst'), '10.0.0.2');
  assert.equal(f.endpoint({ src: '10.0.0.1', src_port: 0, dst: '10.0.0.2', dst_port: 53 }, 'src'), '10.0.0.1:0');
});

test('addresses sort by number', () => {
  const sorted = ['9.0.0.1', '10.0.0.9', '10.0.0.10', '::1', '2001:db8::1', '2001:db8::10', '2001:db8:0:0:1::'];
  assert.deepEqual([...sorted].reverse().sort((a, b) => (f.addressKey(a) < f.addressKey(b) ? -1 : 1)), sorted);
  assert.ok(f.addressKey('10.0.0.1', 80) < f.addressKey('10.0.0.1', 443));
});
