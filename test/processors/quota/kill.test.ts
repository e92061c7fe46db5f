import { fileURLToPath } from 'node:url';
import t from 'tap';
import { searchLogs } from '../../storage/duckdb/log-search.js';
import { TestStore } from '../../storage/duckdb/test-store.js';
import { writeUntilKilled } from '../../storage/duckdb/write-until-killed.js';
import { NOON } from '../../support/run-records.js';
import type { QuotaLine } from './kill-quota-writer.js';

/** `JACKDAW_TEST_KILLS=20` kills more often than by default. */
const KILLS = Number(process.env.JACKDAW_TEST_KILLS ?? 4);
const WRITER = fileURLToPath(new URL('./kill-quota-writer.js', import.meta.url));
/** A limit reached after some kills, and none. */
const LIMITS = [500, 0];

t.setTimeout(0);

for (const limit of LIMITS) {
  void t.test(`after kills the count equals the rows, with a limit of ${limit || 'nothing'}`, async (t) => {
    const opened = await TestStore.open(t);
    const tenant = await opened.addUser();
    await opened.close();
    let taken = 0;
    for (let kill = 1; kill <= KILLS; kill++) {
      const lines = await writeUntilKilled<QuotaLine>(t, WRITER, [opened.path, tenant, String(limit)]);
      taken += lines.filter(({ isTaken }) => isTaken).length;
      await opened.start();
      // While the data is in the hot files, and after it was compacted.
      if (kill % 2 === 0) await opened.store.settled();
      const rows = await storedRows(opened, tenant);
      const { used, period } = await opened.store.usage.read(tenant, NOON);
      t.equal(used, rows, `kill ${kill}: ${rows} rows, ${taken} requests accepted`);
      t.equal(period, '2026-01');
      if (limit > 0) t.ok(rows <= limit);
      await opened.close();
    }
    t.ok(taken > 0);
  });
}

/** Counted items in the store: spans, log records and points. */
async function storedRows({ store }: TestStore, tenant: string): Promise<number> {
  const page = { offset: 0, limit: 1000 };
  let events = 0;
  for (let count = 1; page.offset < count; page.offset += page.limit) {
    const runs = await store.runs.list(tenant, {}, page);
    count = runs.count;
    for (const { span_count } of runs.items) events += span_count;
  }
  const logs = await searchLogs(store, tenant, {}, { offset: 0, limit: 1 });
  const metrics = await store.metrics.list(tenant);
  return events + logs.count + metrics.reduce((sum, { data_point_count: points }) => sum + points, 0);
}
