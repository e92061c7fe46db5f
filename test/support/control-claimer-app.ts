import { SqlControlStore } from '../../src/storage/control/sql-control-store.js';
import { openSqlite } from '../../src/storage/control/sqlite/open-sqlite.js';
import { HandClock } from './hand-clock.js';

/**
 * A process that a test kills between a claim and its result: it opens the control store (first argument), claims due
 * deliveries with a lease in milliseconds (second argument), prints the claims as a line of JSON, and waits.
 */

const [, , path = '', leaseMs] = process.argv;
const clock = new HandClock();
const store = new SqlControlStore(await openSqlite({ path, clock }));
const { claims } = await store.deliveries.claim({
  now: clock.now(),
  limit: 10,
  perEndpoint: 10,
  perOrganization: 10,
  perHost: 10,
  leaseMs: Number(leaseMs),
});
process.stdout.write(`${JSON.stringify(claims)}\n`);
setInterval(() => undefined, 60_000);
