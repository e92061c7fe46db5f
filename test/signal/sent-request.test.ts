import t from 'tap';
import {
  inForm,
  itemCount,
  itemsToSee,
  joinSent,
  sentBatch,
  sentRequestOf,
  withListOfItsOwn,
  type SentRequest,
} from '../../src/signal/sent-request.js';
import type { TraceRecord } from '../../src/signal/trace.js';
import { batchOf } from '../support/engine.js';

/** A request that counts how often it is read: a byte for each trace. */
function counted(...bytes: readonly number[]) {
  const reads: string[] = [];
  const request: SentRequest = {
    form: 'plain',
    bytes: Uint8Array.from(bytes),
    items: bytes.length,
    spans: bytes.map(() => 1),
    totalSpans: bytes.length,
    mostSpans: 1,
  };
  const open = (plain: Uint8Array, tenant: string): TraceRecord[] => {
    reads.push(`${Buffer.from(plain).toString('hex')} of ${tenant}`);
    return [...plain].flatMap((byte) => batchOf(String(byte)).items);
  };
  return { reads, request, open, batch: sentBatch('a-user', request, open) };
}

void t.test(
  'a batch is read once, when somebody asks for its items, and is like any other then',
  async (t) => {
    const { batch, request, reads } = counted(1, 2);
    t.equal(itemCount(batch), 2);
    t.equal(sentRequestOf(batch), request);
    t.strictSame(reads, []);
    t.equal(batch.items.length, 2);
    t.equal(batch.items, batch.items);
    t.strictSame(reads, ['0102 of a-user']);
    t.equal(sentRequestOf(batch), undefined, 'whoever has the items may have changed them');
    batch.items.length = 0;
    t.equal(itemCount(batch), 0);
    const other = counted(3);
    const spread = { ...other.batch, quota: { monthly_items: 1 } };
    t.equal(spread.items.length, 1);
    t.equal(sentRequestOf(spread), undefined);
  },
);

void t.test('each attempt gets a batch of its own', async (t) => {
  const { batch, reads } = counted(1);
  const attempt = withListOfItsOwn(batch);
  attempt.items.length = 0;
  t.equal(itemCount(batch), 1);
  t.equal(withListOfItsOwn(batch).items.length, 1);
  t.equal(reads.length, 2);
  const items = batchOf('1').items;
  const read = { tenant: 'a-user', items };
  withListOfItsOwn(read).items.length = 0;
  t.equal(items.length, 1);
});

void t.test('requests of one user become one, and keep their bytes in any form', async (t) => {
  const [one, other] = [counted(1, 2), counted(3)];
  const joined = joinSent(one.batch, other.batch);
  const request = sentRequestOf(joined);
  t.match(request, { form: 'plain', items: 3 });
  const packed = await inForm(request ?? one.request, 'gzip');
  t.equal(await inForm(packed, 'gzip'), packed);
  t.strictSame([...(await inForm(packed, 'plain')).bytes], [1, 2, 3]);
  const kept = sentBatch('a-user', packed, one.open);
  t.equal(kept.items.length, 3);
  t.strictSame(one.reads, ['010203 of a-user'], 'a packed one can be read as well');
  t.throws(() => joinSent(sentBatch('a-user', packed, one.open)), /only requests as they came/);
  t.throws(() => joinSent(kept), /only requests as they came/);
});

void t.test('whoever only looks at a batch leaves it unread, and reads no more than it may', async (t) => {
  const { batch, request, open } = counted(...Array.from({ length: 100 }, (_, i) => i));
  const packed = sentBatch('a-user', await inForm(request, 'gzip'), open);
  for (const sent of [batch, packed]) {
    t.equal(itemsToSee(sent, 200)?.length, 100);
    t.ok(sentRequestOf(sent), 'it still is as it came');
    t.equal(itemsToSee(sent, 99), null, 'more than it may');
    t.equal(itemsToSee(sent, 0), null);
    t.equal(sent.items.length, 100);
    t.equal(itemsToSee(sent, 0), sent.items, 'what was read costs nothing');
  }
  const small = sentBatch('a-user', await inForm({ ...request, bytes: new Uint8Array(1000) }, 'gzip'), open);
  t.equal(itemsToSee(small, 999), null, 'that it is small when packed says nothing');
});
