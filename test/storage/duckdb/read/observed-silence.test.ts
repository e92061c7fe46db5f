import t from 'tap';
import { aTrace, DAY, NOON } from '../../../support/run-records.js';
import { agentOf, HOUR, observeOne, receive } from '../observing.js';
import { TestStore } from '../test-store.js';

const HOUR_MS = HOUR / 1000;
/** With three days of retention, one day after the start of the test clock. */
const FIRST_KEPT = Math.floor(NOON / DAY) * DAY - DAY;

void t.test('retention and restarts do not reset the inactivity of an agent', async (t) => {
  const opened = await TestStore.open(t, { traceRetentionDays: 3 });
  const tenant = await opened.addUser();
  const started_at = FIRST_KEPT - DAY;
  const came = NOON - HOUR;
  await receive(opened, tenant, [aTrace(0, { agent: 'silent', started_at })], came);
  await receive(opened, tenant, [aTrace(0, { agent: 'busy', started_at: NOON })]);
  const silent = await agentOf(opened, tenant, 'silent');
  const busy = await agentOf(opened, tenant, 'busy');
  const count = async () => (await opened.store.runs.list(tenant, {}, { offset: 0, limit: 1 })).count;
  await opened.retained(24 * HOUR_MS);
  t.equal(await count(), 1);
  t.match(await observeOne(opened, silent), { window: { finished: 0 }, activeAt: started_at });
  t.match(await observeOne(opened, busy), { activeAt: NOON });
  await opened.reopen();
  t.equal((await observeOne(opened, silent)).activeAt, came, 'its creation time');
  t.match(await observeOne(opened, busy), { activeAt: NOON });
  await receive(opened, tenant, [aTrace(0, { agent: 'silent', started_at: NOON - 2 * HOUR })]);
  t.equal((await observeOne(opened, silent)).activeAt, NOON - 2 * HOUR, 'the time of a run takes precedence');
});
