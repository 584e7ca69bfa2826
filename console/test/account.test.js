import assert from 'node:assert/strict';
import test from 'node:test';
import { completenessText, lossText, Rate } from '../page/account.js';

const known = { received: 1000, duplicate: 1, lost: 1, loss_known: 'yes' };
const stuck = { received: 500, duplicate: 0, lost: null, loss_known: 'no: its sequence number never changes' };

test('completeness counts only exporters whose loss is known, and says so', () => {
  assert.deepEqual(completenessText([known]), ['99.9 %', '1 of 1,000 lost']);
  assert.deepEqual(completenessText([known, stuck]), ['99.9 %', '1 of 1,000 lost; unknown for 1 exporter']);
  assert.deepEqual(completenessText([stuck, stuck]), ['unknown', 'for 2 exporters']);
  assert.deepEqual(completenessText([]), ['–', 'no exporter yet']);
});

test('strangers whose reports are refused have no part in completeness', () => {
  const stranger = { received: 9, duplicate: 0, refused: 9, lost: null, loss_known: 'no: refused, no row of exporters has its address' };
  assert.deepEqual(completenessText([known, stranger]), ['99.9 %', '1 of 1,000 lost']);
  assert.deepEqual(completenessText([stranger]), ['–', 'no exporter yet']);
  assert.equal(lossText(stranger), 'unknown: refused, no row of exporters has its address');
});

test('loss is a number or the reason why there is none', () => {
  assert.equal(lossText({ lost: 0, loss_known: 'yes' }), '0');
  assert.equal(lossText(stuck), 'unknown: its sequence number never changes');
  assert.equal(lossText({ lost: null, loss_known: '' }), 'unknown');
});

test('a rate is that of the last seconds', () => {
  const rate = new Rate(5000);
  assert.equal(rate.perSecond(), null);
  rate.add(100, 0);
  assert.equal(rate.perSecond(), null);
  rate.add(300, 1000);
  assert.equal(rate.perSecond(), 200);
  rate.add(300, 6000);
  assert.equal(rate.perSecond(), 0);
});

test('a counter that sinks began anew', () => {
  const rate = new Rate(5000);
  rate.add(100, 0);
  rate.add(5, 1000);
  assert.equal(rate.perSecond(), null);
  rate.add(10, 2000);
  assert.equal(rate.perSecond(), 5);
});
