import { randomUUID } from 'node:crypto';
import t from 'tap';
import { deriveBatch } from '../../../../src/signal/derive-map.js';
import { finishedRows } from '../../../../src/storage/duckdb/read/unit-rows.js';
import { IncomingBatch } from '../../../../src/storage/incoming/incoming-batch.js';
import { EventEngine } from '../event-engine.js';
import { aHeader, aSpanRecord, DAY, NOON } from '../../../support/run-records.js';
import { textOf } from '../shown-spans.js';
import { tracesMessage } from '../traces-message.js';
import { queriesDuring, rowsScannedBy } from '../watched-statements.js';

const LATER = NOON + DAY;
const BATCHES = 12;
const SPANS = 8192;
const HEADERS = (2 * (BATCHES * SPANS)) / 64 + 10;
/** Reading two positions of one row kind scans two row groups of 8192, plus one per hot segment. */
const FEW_ROWS = 5 * SPANS;

void t.test('changing an old trace reads only the positions of its rows', async (t) => {
  const engine = await EventEngine.open(t, { segmentSize: { rows: 1e6, bytes: 1e9 } });
  const user = await engine.addUser(null);
  const old = randomUUID();
  const touch = async (receivedAt: number): Promise<void> => {
    const trace = aHeader({ trace_id: old, status: 'running' });
    const items = [{ trace, spans: [aSpanRecord(old, { type: 'custom', name: 'step', ended_at: LATER })] }];
    const message = tracesMessage(user.tenant, { items, service_map: deriveBatch(items) }, receivedAt);
    await engine.parts.writer.write({ kind: 'batch', batch: new IncomingBatch(message) });
  };
  await touch(NOON);
  for (let i = 0; i < BATCHES; i++) await engine.write(user, others(), NOON + i);
  await touch(LATER);
  await engine.settle();
  await engine.reopen();
  const { database, runs } = engine.parts;
  const { read } = engine;

  const asRead = await queriesDuring(database, async () => {
    const found = (await runs.read(engine.asking(user.tenant), old))?.value;
    t.equal(found?.trace.span_count, 2);
    t.match(found && textOf(found.page), /^{.*"step".*"step".*}$/);
  });
  t.ok((await rowsScannedBy(database, asRead)) < FEW_ROWS, 'for a page of the trace');

  const inCommit = await queriesDuring(database, () => touch(LATER));
  t.equal((await engine.shownRun(user, old)).span_count, 3);
  t.ok((await rowsScannedBy(database, inCommit)) < FEW_ROWS, 'for the commit that adds spans');

  const forAlerts = await queriesDuring(database, () =>
    read(async (connection, capture) => {
      const units = { unit: 'node', numbers: [1, 2] } as const;
      const finished = await finishedRows(connection, capture, units, {
        after: NOON + BATCHES,
        until: LATER,
      });
      const [row] = await connection.rows(`SELECT count(*) AS rows FROM ${finished}`);
      t.equal(row?.rows, 3, 'all of its spans end within the window');
    }),
  );
  // Headers are scanned by their last seen time, all of them in this file.
  const spans = forAlerts.filter((query) => query.includes('main.spans'));
  t.equal(spans.length, 1);
  t.ok((await rowsScannedBy(database, spans)) < FEW_ROWS + HEADERS, 'for alerts on nodes');
});

function others() {
  return Array.from({ length: SPANS / 64 }, () => {
    const trace = aHeader({ trace_id: randomUUID() });
    return { trace, spans: Array.from({ length: 64 }, () => aSpanRecord(trace.trace_id)) };
  });
}
