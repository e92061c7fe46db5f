import { fileURLToPath } from 'node:url';
import t from 'tap';
import type { LogLine } from './kill-log-writer.js';
import { searchLogs } from '../log-search.js';
import { duplicatesIn } from '../stored-rows.js';
import { TestStore } from '../test-store.js';
import { writeUntilKilled } from '../write-until-killed.js';

/** Set `JACKDAW_TEST_KILLS=20` to kill more often. */
const KILLS = Number(process.env.JACKDAW_TEST_KILLS ?? 4);
const WRITER = fileURLToPath(new URL('./kill-log-writer.js', import.meta.url));

t.setTimeout(0);

void t.test('a killed process keeps every acknowledged log record exactly once', async (t) => {
  const opened = await TestStore.open(t);
  const tenant = await opened.addUser();
  await opened.close();
  const batches = new Map<string, { readonly records: number; isAcknowledged: boolean }>();
  for (let kill = 1; kill <= KILLS; kill++) {
    for (const { kind, word, records } of await writeUntilKilled<LogLine>(t, WRITER, [opened.path, tenant]))
      batches.set(word, { records, isAcknowledged: kind === 'done' });
    await opened.start();
    // Once with most records in hot files, once with all sealed segments compacted.
    if (kill % 2 === 0) await opened.store.settled();
    let all = 0;
    for (const [word, batch] of batches) {
      const { count, items } = await searchLogs(opened.store, tenant, { query: word });
      if (count !== items.length) t.fail(`${count} counted, ${items.length} shown`);
      if (count === batch.records) batch.isAcknowledged = true;
      else if (count !== 0 || batch.isAcknowledged) t.fail(`${count} of a batch of ${batch.records}`);
      else batches.delete(word);
      all += count;
    }
    const { count } = await searchLogs(opened.store, tenant, { query: 'written' }, { offset: 0, limit: 1 });
    t.equal(count, all, `kill ${kill}: ${batches.size} batches, ${all} records`);
    t.ok(all > 0);
    await opened.close();
    t.same(await duplicatesIn(opened.path), []);
  }
});
