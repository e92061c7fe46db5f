import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { ConsumeError } from '../../../../src/component/consume-error.js';
import { handOver } from '../../../../src/component/consumer.js';
import { RAW_DECODERS } from '../../../../src/otlp/map/decode-raw.js';
import type { AnyBatch } from '../../../../src/signal/raw-batch.js';
import { startOnDisk } from '../../../support/disk-delivery.js';
import { aSpan, protobufOf } from '../../../support/otlp-requests.js';
import { aTrace } from '../../../support/run-records.js';
import { testFolder } from '../../../support/test-folder.js';
import { until } from '../../../support/until.js';

const RECORDS = 8;
const busy = () => new ConsumeError('busy', { code: 'overloaded', retryable: true });

/** A closed queue with some records. @returns its file and the start of each record */
async function filled(t: Test) {
  const folder = testFolder(t);
  const first = await startOnDisk(t, folder);
  for (let n = 0; n < RECORDS; n++) await first.send('a', [n, `text of record ${n}, which has some length`]);
  await until('one is in progress', () => first.scripted.attempts.length === 1);
  first.scripted.last.fail(busy());
  await first.stop();
  const directory = join(first.path, 'logs');
  const name = readdirSync(directory).find((one) => one.endsWith('.queue')) ?? '';
  const file = join(directory, name);
  const bytes = readFileSync(file);
  const starts: number[] = [];
  for (let at = bytes.indexOf('JDQR'); at >= 0; at = bytes.indexOf('JDQR', at + 1)) starts.push(at);
  t.equal(starts.length, RECORDS);
  return { folder, file, bytes, starts };
}

/** Reopens the queue and delivers its records. */
async function delivered(t: Test, folder: string, count: number) {
  const second = await startOnDisk(t, folder);
  const got: unknown[] = [];
  for (let n = 1; n <= count; n++) {
    await until('the next attempt is in progress', () => second.scripted.attempts.length === n);
    got.push(second.scripted.last.batch.items[0]);
    second.scripted.last.succeed();
  }
  await until('nothing is left', async () => (await second.metric('queue_items')) === 0);
  t.equal(second.scripted.attempts.length, count);
  return { ...second, got };
}

void t.test('a flipped bit anywhere in a record loses only that record', async (t) => {
  // In the header, in the description, in the content.
  for (const distance of [1, 9, 30, -3]) {
    const { folder, file, bytes, starts } = await filled(t);
    const [, , third = 0, fourth = 0] = starts;
    const offset = distance < 0 ? fourth + distance : third + distance;
    bytes[offset] = (bytes[offset] ?? 0) ^ 4;
    writeFileSync(file, bytes);
    const { got, metric, logger } = await delivered(t, folder, RECORDS - 1);
    t.strictSame(got, [0, 1, 3, 4, 5, 6, 7], `at ${distance}`);
    t.equal(await metric('queue_damaged_bytes_total'), fourth - third);
    t.equal(await metric('queue_damaged_records_total'), 1);
    t.equal(await metric('queue_lost_items_total'), distance === 9 ? 0 : 2, 'unknown without the length');
    t.match(logger.lines.join('\n'), /Skipped an unreadable part of a queue file.*records=1/);
  }
});

void t.test('counts waiting and lost spans in any form', async (t) => {
  const request = (): AnyBatch => {
    const bytes = protobufOf('traces', {
      resourceSpans: [
        { scopeSpans: [{ spans: [1, 2, 3, 4, 5].map((id) => aSpan(id, { spanId: Buffer.alloc(8, id) })) }] },
      ],
    });
    const raw = { form: 'plain', bytes, items: 1, spans: [5], totalSpans: 5, mostSpans: 5 } as const;
    return { kind: 'raw', tenant: 'a', request: raw, decode: RAW_DECODERS.decode };
  };
  const read = () => ({ tenant: 'a', items: [aTrace(2), aTrace(3)] });
  const folder = testFolder(t);
  const first = await startOnDisk(t, folder, { signal: 'traces' });
  for (const batch of [request(), read(), request()]) await handOver(first.way, batch, { receivedAt: 0 });
  t.equal(await first.metric('queue_spans'), 15);
  t.equal(await first.metric('queue_items'), 4);
  first.scripted.last.fail(busy());
  await first.stop();
  const directory = join(first.path, 'traces');
  const file = join(directory, readdirSync(directory).find((one) => one.endsWith('.queue')) ?? '');
  const bytes = readFileSync(file);
  // The end of the last record's content.
  bytes[bytes.length - 3] = (bytes.at(-3) ?? 0) ^ 4;
  writeFileSync(file, bytes);
  const second = await startOnDisk(t, folder, { signal: 'traces' });
  t.equal(await second.metric('queue_spans'), 15, 'also after a restart');
  for (const n of [1, 2]) {
    await until('the next attempt is in progress', () => second.scripted.attempts.length === n);
    second.scripted.last.succeed();
  }
  await until('nothing is left', async () => (await second.metric('queue_spans')) === 0);
  t.equal(await second.metric('sent_spans_total'), 10);
  t.equal(await second.metric('queue_lost_items_total'), 1);
  t.equal(await second.metric('queue_lost_spans_total'), 5);
  t.match(second.logger.lines.join('\n'), /Skipped an unreadable part of a queue file.*records=1 spans=5/);
});

void t.test('a truncated tail loses only its record', async (t) => {
  const { folder, file, bytes } = await filled(t);
  truncateSync(file, bytes.length - 5);
  const { got } = await delivered(t, folder, RECORDS - 1);
  t.strictSame(got, [0, 1, 2, 3, 4, 5, 6]);
});

void t.test('a page of zeros loses only the records it overlaps', async (t) => {
  const { folder, file, starts } = await filled(t);
  const zeros = openSync(file, 'r+');
  writeSync(zeros, Buffer.alloc((starts[5] ?? 0) - (starts[2] ?? 0) - 10), 0, null, (starts[2] ?? 0) + 5);
  closeSync(zeros);
  const { got } = await delivered(t, folder, RECORDS - 3);
  t.strictSame(got, [0, 1, 5, 6, 7]);
});

void t.test('opens a file of zeros and an empty file', async (t) => {
  const { folder, file, bytes } = await filled(t);
  writeFileSync(file, Buffer.alloc(bytes.length));
  writeFileSync(join(file, '..', '0000000000000009.queue'), '');
  await delivered(t, folder, 0);
});
