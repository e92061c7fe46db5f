import t from 'tap';
import { ClickHouseServer } from '../../support/clickhouse-server.js';
import { aTrace, NOON } from '../../support/run-records.js';
import { TestClickHouse } from './test-clickhouse.js';

const server = await ClickHouseServer.start(t);
const skip = typeof server === 'string' ? server : false;

void t.test(
  'applies an outcome only to runs written before it, even if its insert is slow',
  { skip },
  async (t) => {
    if (typeof server === 'string') return;
    const opened = await TestClickHouse.open(t, server);
    const { store } = opened;
    const user = await opened.addUser();
    // Loads the user: calls of a known user run in order.
    await store.agents.list(user);
    for (let i = 0; i < 5; i++) {
      const { trace, spans } = aTrace(1);
      // The insert of the outcome fails once; the batch could overtake it during the retry delay.
      await server.fault({ kind: 'cut', times: 1, matching: 'INSERT INTO messages' });
      const [set] = await Promise.all([
        store.runs.setOutcome(user, trace.trace_id, { success: true, outcome: 'too early' }),
        store.writer.traces({ tenant: user, items: [{ trace, spans }] }, { receivedAt: NOON }),
      ]);
      t.equal(set, null);
      t.equal((await store.runs.read(user, trace.trace_id))?.outcome, trace.outcome);
    }
  },
);
