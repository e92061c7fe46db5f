import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t from 'tap';
import { SqlControlStore } from '../../../src/storage/control/sql-control-store.js';
import { openSqlite } from '../../../src/storage/control/sqlite/open-sqlite.js';
import { HandClock } from '../../support/hand-clock.js';
import { NOON } from '../../support/run-records.js';
import { testFolder } from '../../support/test-folder.js';

const WRITER = fileURLToPath(new URL('../../support/firing-writer-app.js', import.meta.url));
const KILLS = 4;

void t.test('stores a firing with its notices and event or not at all after kill -9', async (t) => {
  const path = join(testFolder(t), 'control.db');
  for (let round = 1; round <= KILLS; round++) {
    const writer = spawn(process.execPath, [WRITER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
    t.teardown(() => writer.kill('SIGKILL'));
    const exited = once(writer, 'exit');
    let last = '';
    let lines = 0;
    for await (const line of createInterface({ input: writer.stdout })) {
      last = line;
      if (++lines === 20 * round) writer.kill('SIGKILL');
    }
    t.same(await exited, [null, 'SIGKILL']);
    const [userId = '', id = '', acknowledged] = last.split(' ');
    const store = new SqlControlStore(await openSqlite({ path, clock: new HandClock() }));
    const found = await store.alerts.listFirings(userId, id, { offset: 0, limit: 100_000 });
    const count = found?.count ?? 0;
    t.ok(count >= Number(acknowledged), 'acknowledged firings are stored');
    t.ok(found?.items.every(({ notifications }) => notifications.length === 2));
    t.match(await store.alerts.read(userId, id), {
      alert: { last_fired_at: NOON + count },
      incident: { firings: count },
    });
    const { events } = await store.events.read('0', { events: 1e6, bytes: 1e9 });
    t.equal(events.filter(({ tenant }) => tenant === userId).length, count);
    await store.close();
  }
});
