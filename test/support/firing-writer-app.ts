import { uuidV7 } from '../../src/signal/ids.js';
import { SqlControlStore } from '../../src/storage/control/sql-control-store.js';
import { openSqlite } from '../../src/storage/control/sqlite/open-sqlite.js';
import { aUser } from '../storage/duckdb/meta-records.js';
import { HandClock } from './hand-clock.js';
import { aDecision, addRule, ruleNow } from './kept-rules.js';
import { NOON } from './run-records.js';

/**
 * A process that a test kills: it opens the control store (first argument) and fires a new rule endlessly. Acknowledged firings are
 * printed as lines: user, rule and number of firings.
 */

const [, , path = ''] = process.argv;
const store = new SqlControlStore(await openSqlite({ path, clock: new HandClock() }));
await store.events.want('test', ['alert.fired'], Number.MAX_SAFE_INTEGER);
const user = aUser();
await store.accounts.createUser(user);
const id = uuidV7(NOON / 1000);
const rule = await addRule(store, user.id, { id, channel: 'both', webhook_url: 'https://a.example/' });
for (let count = 1; ; count++) {
  const firing = aDecision(await ruleNow(store, rule), { firedAt: NOON + count });
  const [written] = await store.alerts.recordFirings([firing]);
  if (written !== true) throw new Error('the firing was not written');
  process.stdout.write(`${user.id} ${id} ${String(count)}\n`);
  // A pipe is flushed between turns of the event loop.
  if (count % 8 === 0) await new Promise(setImmediate);
}
