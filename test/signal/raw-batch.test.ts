import t from 'tap';
import { handOver } from '../../src/component/consumer.js';
import { itemCount } from '../../src/signal/amount.js';
import type { Batch } from '../../src/signal/batch.js';
import {
  inForm,
  itemsWithin,
  joined,
  recordsOf,
  type AnyBatch,
  type RawBatch,
} from '../../src/signal/raw-batch.js';
import { batchOf } from '../support/engine.js';

/** A request with one byte per trace that counts its decodings. */
function counted(...bytes: readonly number[]) {
  const reads: string[] = [];
  const batch: RawBatch = {
    kind: 'raw',
    tenant: 'a-user',
    request: {
      form: 'plain',
      bytes: Uint8Array.from(bytes),
      items: bytes.length,
      spans: bytes.map(() => 1),
      totalSpans: bytes.length,
      mostSpans: 1,
    },
    decode: (plain, tenant) => {
      reads.push(`${Buffer.from(plain).toString('hex')} of ${tenant}`);
      return [...plain].flatMap((byte) => batchOf(String(byte)).items);
    },
  };
  return { reads, batch };
}

void t.test('decodes a raw batch for consumers that accept only records', async (t) => {
  const got: AnyBatch[] = [];
  const consume = async (batch: AnyBatch) => {
    got.push(batch);
    return Promise.resolve({ accepted: itemCount(batch), refused: [] });
  };
  const { batch, reads } = counted(1, 2);
  t.equal(itemCount(batch), 2);
  t.strictSame(
    await handOver({ consume, passthrough: { form: 'plain', consume } }, batch, { receivedAt: 0 }),
    {
      accepted: 2,
      refused: [],
    },
  );
  t.equal(got[0], batch);
  t.strictSame(reads, []);
  await handOver({ consume }, batch, { receivedAt: 0 });
  t.equal((got[1] as Batch<unknown>).items.length, 2);
  t.strictSame(reads, ['0102 of a-user']);
  const records = recordsOf(batch);
  t.equal(recordsOf(records), records);
});

void t.test('joins raw requests of one user and keeps their bytes in any form', async (t) => {
  const [one, other] = [counted(1, 2), counted(3)];
  const both = joined([one.batch, other.batch]) as RawBatch;
  t.match(both.request, { form: 'plain', items: 3 });
  const packed = await inForm(both.request, 'gzip');
  t.equal(await inForm(packed, 'gzip'), packed);
  t.strictSame([...(await inForm(packed, 'plain')).bytes], [1, 2, 3]);
  const kept: RawBatch = { ...both, request: packed };
  t.equal(recordsOf(kept).items.length, 3);
  t.strictSame(one.reads, ['010203 of a-user'], 'a compressed one decodes, too');
  t.throws(() => joined([one.batch, kept]), /only plain requests can be joined/);
});

void t.test('itemsWithin decodes at most the given size', async (t) => {
  const { batch } = counted(...Array.from({ length: 100 }, (_, i) => i));
  const gzip = async (raw: RawBatch): Promise<RawBatch> => ({
    ...raw,
    request: await inForm(raw.request, 'gzip'),
  });
  for (const raw of [batch, await gzip(batch)]) {
    t.equal(itemsWithin(raw, 200)?.length, 100);
    t.equal(itemsWithin(raw, 99), null, 'too large');
    t.equal(itemsWithin(raw, 0), null);
    const records = recordsOf(raw);
    t.equal(itemsWithin(records, 0), records.items, 'records cost nothing');
  }
  const small = await gzip({ ...batch, request: { ...batch.request, bytes: new Uint8Array(1000) } });
  t.equal(itemsWithin(small, 999), null, 'a small compressed size does not count');
});
