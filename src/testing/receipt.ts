import assert from 'node:assert/strict';
import type { Receipt } from '../component/consumer.js';

/**
 * @param count how many items the batch had
 * @throws AssertionError where the receipt cannot be one for such a batch
 */
export function assertReceipt(receipt: Receipt, count: number): void {
  assert.equal(typeof receipt, 'object', 'consume resolves with a receipt');
  const { accepted, refused } = receipt;
  assert.ok(Number.isSafeInteger(accepted) && accepted >= 0, 'accepted is a number of items');
  assert.equal(accepted + refused.length, count, 'accepted and refused add up to the batch');
  const seen = new Set<number>();
  for (const { index, reason } of refused) {
    assert.ok(Number.isSafeInteger(index) && index >= 0 && index < count, `there is an item ${index}`);
    assert.ok(!seen.has(index), `item ${index} is refused once`);
    assert.ok(typeof reason === 'string' && reason !== '', 'a refusal has a reason');
    seen.add(index);
  }
}
