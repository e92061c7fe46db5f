import t from 'tap';
import { deriveBatch } from '../../src/signal/derive-map.js';
import { TracesEncoder } from '../../src/storage/duckdb/encode-traces.js';
import { IncomingBatch } from '../../src/storage/duckdb/write-group.js';
import { EventEngine } from '../events/event-engine.js';
import { aSpanRecord, aTrace, NOON } from '../support/run-records.js';
import { queriesDuring } from './watched-statements.js';

const KIB = 1024;
const SPANS = 30;

void t.test('a rebuild of the map reads a few payloads at a time, and all of them', async (t) => {
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
    const message = new TracesEncoder().encode({ tenant: user.userId, items, ...derived }, NOON);
    await engine.parts.writer.write({ batch: new IncomingBatch(user.tenant, message) });
  };
  await write(false);
  await engine.settle();
  await write(true);
  const { database, housekeeping } = engine.parts;
  const queries = await queriesDuring(database, async () => {
    t.match(await housekeeping.rebuildMap(true), { unmapped_traces: 1, differing_spans: 0 });
  });
  const sizes: number[] = [];
  const connection = await database.connect();
  t.teardown(() => {
    connection.close();
  });
  for (const query of queries.filter((query) =>
    query.startsWith('SELECT seq, tenant, trace_id, first_line, '),
  )) {
    const [row] = await connection.rows(
      `SELECT sum(strlen(lines))::DOUBLE AS bytes FROM (${query}) q(seq, tenant, trace_id, first_line, lines)`,
    );
    sizes.push(Number(row?.bytes));
  }
  t.ok(Math.max(...sizes) < 4.5 * KIB * KIB, `${sizes.join(', ')} bytes`);
  const all = sizes.reduce((sum, size) => sum + size, 0);
  t.ok(all > 2 * SPANS * 300 * KIB && all < 2 * SPANS * 301 * KIB, 'each of them once');
  t.match(await housekeeping.rebuildMap(false), { unmapped_traces: 1, corrected: true });
  t.match(await housekeeping.rebuildMap(true), { unmapped_traces: 0, differing_spans: 0, differing_sums: 0 });
});
