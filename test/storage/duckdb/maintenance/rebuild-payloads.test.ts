import t from 'tap';
import { deriveBatch } from '../../../../src/signal/derive-map.js';
import { IncomingBatch } from '../../../../src/storage/incoming/incoming-batch.js';
import { EventEngine } from '../event-engine.js';
import { aSpanRecord, aTrace, NOON } from '../../../support/run-records.js';
import { queriesDuring } from '../watched-statements.js';
import { tracesMessage } from '../traces-message.js';

const KIB = 1024;
const SPANS = 30;
/** Four mebibytes plus one piece. */
const MOST = 4.5 * KIB * KIB;

void t.test('a map rebuild reads all payloads, a few at a time', async (t) => {
  const engine = await EventEngine.open(t, { segmentSize: { rows: 1e6, bytes: 1e9 } });
  const user = await engine.addUser(null);
  const write = async (isLate: boolean): Promise<void> => {
    const { trace } = aTrace(0);
    const spans = Array.from({ length: SPANS }, (_, i) =>
      aSpanRecord(trace.trace_id, {
        type: 'db',
        name: 'query',
        metadata: { 'db.system': `database ${i}` },
        output_data: { text: 'x'.repeat(300 * KIB) },
      }),
    );
    const items = [{ trace, spans }];
    const derived = isLate ? {} : { service_map: deriveBatch(items) };
    const message = tracesMessage(user.tenant, { items, ...derived }, NOON);
    await engine.parts.writer.write({ kind: 'batch', batch: new IncomingBatch(message) });
  };
  await write(false);
  await engine.settle();
  await write(true);
  const { database, housekeeping } = engine.parts;
  const connection = await database.connect();
  t.teardown(() => {
    connection.close();
  });
  /** Text lengths returned by each payload query. */
  const sizesDuring = async (columns: string, work: () => Promise<void>): Promise<number[]> => {
    const sizes: number[] = [];
    for (const query of await queriesDuring(database, work)) {
      if (!query.startsWith(`SELECT ${columns}, coalesce(lines`)) continue;
      const [row] = await connection.rows(
        `SELECT sum(octet_length(texts))::DOUBLE AS bytes FROM (${query}) q(${columns}, texts)`,
      );
      sizes.push(Number(row?.bytes));
    }
    return sizes;
  };
  const isOnceEach = (sizes: readonly number[], spans: number): boolean => {
    const all = sizes.reduce((sum, size) => sum + size, 0);
    return all > spans * 300 * KIB && all < spans * 301 * KIB;
  };
  const looked = await sizesDuring('seq, tenant, trace_id, first_line', async () => {
    t.match(await housekeeping.rebuildMap(true), { unmapped_traces: 1, differing_spans: 0 });
  });
  t.ok(Math.max(...looked) < MOST, `${looked.join(', ')} bytes`);
  t.ok(isOnceEach(looked, 2 * SPANS));
  // The commit that adds the late payloads to the map.
  const committed = await sizesDuring('seq, first_line', async () => {
    t.match(await housekeeping.rebuildMap(false), { unmapped_traces: 1, corrected: true });
  });
  t.ok(Math.max(...committed) < MOST, `${committed.join(', ')} bytes`);
  t.ok(isOnceEach(committed, SPANS));
  t.match(await housekeeping.rebuildMap(true), { unmapped_traces: 0, differing_spans: 0, differing_sums: 0 });
});
