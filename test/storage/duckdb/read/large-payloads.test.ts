import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import t from 'tap';
import { LONG_PIECE_BYTES } from '../../../../src/storage/schema/tables.js';
import { aHeader, aSpanRecord, NOON } from '../../../support/run-records.js';
import { piecesOf } from '../../../support/read-pieces.js';
import type { Taken } from './large-payload-reader.js';
import { TestStore } from '../test-store.js';

const READER = fileURLToPath(new URL('./large-payload-reader.js', import.meta.url));
const RECEIVED = { receivedAt: NOON };
const MIB = 1024 * 1024;
const TRACES = 96;
/** A few times the size of the payload that is read, far less than all payloads. */
const MOST_MEMORY = 64 * MIB;

void t.test('reading a large payload does not read its neighbors', async (t) => {
  const opened = await TestStore.open(t, { segmentSize: { rows: 40, bytes: 1e9 } });
  const tenant = await opened.addUser();
  const ids: string[] = [];
  for (let i = 0; i < TRACES; i++) {
    const trace = aHeader();
    const span = aSpanRecord(trace.trace_id, { input_data: { text: `${i}`.padEnd(MIB, '-') } });
    await opened.store.writer.traces({ tenant, items: [{ trace, spans: [span] }] }, RECEIVED);
    ids.push(trace.trace_id);
  }
  await opened.store.settled();
  await opened.close();
  // In a separate process: the peak memory of this one would hide the growth.
  const read = [opened.path, tenant, ids[TRACES / 2] ?? ''];
  const { stdout } = await promisify(execFile)(process.execPath, [READER, ...read]);
  const { bytes, memoryBytes } = JSON.parse(stdout) as Taken;
  t.ok(bytes > MIB && bytes < 1.1 * MIB, `${bytes} bytes`);
  t.ok(memoryBytes < MOST_MEMORY, `${memoryBytes} bytes of memory`);
});

void t.test('payloads are complete on both sides of the packing limit', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  const sizes = [
    1,
    2000,
    LONG_PIECE_BYTES - 20,
    LONG_PIECE_BYTES,
    LONG_PIECE_BYTES + 1,
    10,
    3 * LONG_PIECE_BYTES,
  ];
  const [trace, touched] = [aHeader({ status: 'running' }), aHeader({ status: 'running' })];
  const spansOf = (traceId: string, end: number | null) =>
    sizes.map((size, i) =>
      aSpanRecord(traceId, {
        span_id: `00000000-0000-0000-0000-00000000000${i}`,
        started_at: NOON + i,
        ended_at: end,
        status: end === null ? 'running' : 'completed',
        input_data: end === null ? null : { text: 'é'.repeat(size) },
      }),
    );
  // One is written from the sender's columns, the other as new versions of spans.
  await opened.store.writer.traces(
    { tenant, items: [{ trace, spans: spansOf(trace.trace_id, NOON + 100) }] },
    RECEIVED,
  );
  for (const end of [null, NOON + 100]) {
    const spans = spansOf(touched.trace_id, end);
    await opened.store.writer.traces({ tenant, items: [{ trace: touched, spans }] }, RECEIVED);
  }
  for (const state of ['hot', 'moved']) {
    for (const { trace_id } of [trace, touched]) {
      const found = await opened.store.runs.read(tenant, trace_id);
      const pieces: Uint8Array[] = [];
      for await (const piece of piecesOf(found?.spans)) pieces.push(piece);
      const spans = JSON.parse(`[${Buffer.concat(pieces).toString()}]`) as { input_data: { text: string } }[];
      t.strictSame(
        spans.map(({ input_data }) => input_data.text.length),
        sizes,
        state,
      );
    }
    await opened.store.settled();
  }
});
