import t from 'tap';
import { copyPlain } from '../../src/pipeline/copy-batch.js';
import type { JsonObject } from '../../src/signal/attributes.js';
import {
  carry,
  isUnseen,
  note,
  noted,
  sentOf,
  replaceSent,
  seenMetadata,
} from '../../src/signal/sent-span.js';
import type { SpanRecord } from '../../src/signal/span.js';
import { aSpanRecord } from '../support/run-records.js';
import { without } from '../storage/duckdb/shown-spans.js';

const TRACE_ID = '01010101-0101-0101-0101-010101010101';

/** A record with a raw span that counts decodings of its metadata. */
function carrying(): { readonly record: SpanRecord; made: () => number } {
  let made = 0;
  const fields = without(aSpanRecord(TRACE_ID, { name: 'a' }), 'metadata');
  const sent = {
    bytes: Buffer.from('the span'),
    origin: { bytes: Buffer.from('its origin') },
    notes: { provider: 'openai' } as JsonObject,
    mapped: fields,
  };
  const record = carry(fields, sent, ({ notes }) => {
    made++;
    return { attribute: { list: [1] }, ...notes };
  });
  return { record, made: () => made };
}

const METADATA = { attribute: { list: [1] }, provider: 'openai' };

void t.test('records with a raw span equal ordinary ones', async (t) => {
  const plain = aSpanRecord(TRACE_ID);
  for (const look of [
    (record: SpanRecord) => record.metadata,
    (record: SpanRecord) => ({ ...record }).metadata,
    (record: SpanRecord) => structuredClone(record).metadata,
    (record: SpanRecord) => (JSON.parse(JSON.stringify(record)) as SpanRecord).metadata,
    (record: SpanRecord) => Object.entries(record).find(([key]) => key === 'metadata')?.[1] as unknown,
    (record: SpanRecord) => copyPlain(record).metadata,
  ])
    t.strictSame(look(carrying().record), METADATA);
  const { record } = carrying();
  t.strictSame(Object.keys(record).sort(), Object.keys(plain).sort());
  t.equal(Object.getPrototypeOf(record), Object.prototype);
  t.equal(record.metadata, record.metadata, 'the same object');
});

void t.test('the raw span is used until its metadata changes', async (t) => {
  const { record, made } = carrying();
  t.equal(sentOf(record)?.bytes.toString(), 'the span');
  t.ok(isUnseen(record));
  t.equal(made(), 0, 'never decoded');
  t.strictSame(record.metadata, METADATA);
  t.notOk(isUnseen(record));
  t.ok(sentOf(record), 'reading changes nothing');
  const { attribute } = record.metadata as { attribute: { list: number[] } };
  attribute.list.push(2);
  t.equal(sentOf(record), undefined, 'at any depth');
  attribute.list.pop();
  t.ok(sentOf(record), 'restored content is unchanged');
  for (const metadata of [null, {}, METADATA]) {
    const { record: other } = carrying();
    other.metadata = metadata;
    t.equal(sentOf(other), undefined);
    t.equal(other.metadata, metadata);
  }
  t.equal(sentOf(aSpanRecord(TRACE_ID)), undefined);
});

void t.test('notes leave the raw span unchanged', async (t) => {
  const { record } = carrying();
  note(record, 'cost_source', 'estimated');
  t.equal(noted(record, 'cost_source'), 'estimated');
  t.equal(noted(record, 'provider'), 'openai');
  t.ok(isUnseen(record));
  t.strictSame(record.metadata, { ...METADATA, cost_source: 'estimated' });
  note(record, 'cost_source', 'reported');
  t.equal(record.metadata?.['cost_source'], 'reported', 'also if the metadata is in use');
  t.ok(sentOf(record));
  if (record.metadata !== null) record.metadata['provider'] = 'changed';
  t.equal(noted(record, 'provider'), 'changed');
  for (const metadata of [null, { a: 1 }]) {
    const plain = aSpanRecord(TRACE_ID, { metadata });
    note(plain, 'cost_source', 'estimated');
    t.strictSame(plain.metadata, { ...metadata, cost_source: 'estimated' });
    t.equal(noted(plain, 'cost_source'), 'estimated');
  }
});

void t.test('copies are independent of the original', async (t) => {
  const { record } = carrying();
  const copy = copyPlain({ items: [record] }).items[0];
  if (copy === undefined) throw new Error('it was copied');
  t.equal(sentOf(copy)?.bytes, sentOf(record)?.bytes, 'bytes are shared');
  note(copy, 'cost_source', 'estimated');
  copy.name = 'other';
  t.equal(noted(record, 'cost_source'), undefined);
  t.equal(record.name, 'a');
  if (copy.metadata !== null) copy.metadata['attribute'] = 1;
  t.strictSame(record.metadata, METADATA);
  t.strictSame(copyPlain(record).metadata, METADATA, 'also if the metadata was read before');
});

void t.test('replacing the raw span updates the metadata', async (t) => {
  const { record } = carrying();
  const sent = sentOf(record);
  t.strictSame(record.metadata, METADATA);
  if (sent === undefined) throw new Error('nothing is carried');
  replaceSent(record, { ...sent, bytes: Buffer.from('another span'), notes: {} });
  t.equal(sentOf(record)?.bytes.toString(), 'another span');
  t.strictSame(record.metadata, { attribute: { list: [1] } });
});

void t.test('metadata can be read without keeping it', async (t) => {
  const { record, made } = carrying();
  t.strictSame(seenMetadata(record), METADATA);
  t.equal(isUnseen(record), true);
  t.equal(made(), 1);
  record.metadata = { set: true };
  t.strictSame(seenMetadata(record), { set: true });
});
