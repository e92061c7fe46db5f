import t from 'tap';
import { itemAt, invariant } from '../../../src/signal/checked.js';
import { SqlControlStore } from '../../../src/storage/control/sql-control-store.js';
import { openPostgres } from '../../../src/storage/control/postgres/open-postgres.js';
import { systemClock } from '../../../src/telemetry/system-clock.js';
import { PostgresServer } from '../../support/postgres.js';
import { RecordingLogger } from '../../support/recording-logger.js';

const STORE = 'store';
const LONG = 600_000;
const TENANTS = 40;
const LANES = 12;
const ROUNDS = 12;

const server = await PostgresServer.start(t);
if (typeof server === 'string') t.plan(0, server);
else
  void t.test('concurrent writes and agents in different orders never deadlock', async (t) => {
    const url = await server.createDatabase();
    const stores = await Promise.all(
      [1, 2].map(async () => {
        const database = await openPostgres({ url, clock: systemClock, logger: new RecordingLogger() });
        return new SqlControlStore(database);
      }),
    );
    const lane = async (lane: number): Promise<void> => {
      const { writes, agents } = itemAt(stores, lane % 2);
      for (let round = 0; round < ROUNDS; round++) {
        const at = Date.UTC(2026, round % 3, 26) * 1000;
        const tenants = Array.from({ length: TENANTS }, (_, i) =>
          lane % 2 === 0 ? i : TENANTS - 1 - ((i + lane) % TENANTS),
        );
        const charges = tenants.map((tenant) => ({ tenant, at, items: 2, isExact: true, limit: LONG }));
        const begun = await writes.begin({ store: STORE, owner: 'a', leaseMs: LONG, traces: [], charges });
        const write = invariant(begun.write, 'write');
        await writes.fence(write);
        const named = tenants.map((tenant) => ({ tenant, name: `agent ${String(round)}`, at }));
        await agents.number(
          STORE,
          named.map((run) => ({ ...run, comesIntoBeing: lane % 3 > 0 })),
          LONG,
        );
        await writes.finish(
          write,
          tenants.map((tenant) => ({ tenant, at, items: 1 })),
        );
        await Promise.all([writes.takeOver(STORE, 'b', LONG, 10), writes.forgetEnded(STORE, 0)]);
      }
    };
    await Promise.all(Array.from({ length: LANES }, (_, i) => lane(i)));
    const counted = await itemAt(stores, 0).writes.days(STORE, 1, 0, 1_000_000);
    t.equal(
      counted.reduce((sum, { items }) => sum + items, 0),
      LANES * ROUNDS,
    );
    // PostgreSQL reports deadlocks after its connections end.
    for (const store of stores) await store.close();
    const rows = await server.query(
      `select deadlocks::int from pg_stat_database where datname = '${new URL(url).pathname.slice(1)}'`,
    );
    t.strictSame(rows, [{ deadlocks: 0 }]);
  });
