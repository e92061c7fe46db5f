import t from 'tap';
import { Connection } from '../../src/storage/duckdb/connection.js';
import { MAIN } from '../../src/storage/duckdb/database.js';
import { MetaTables } from '../../src/storage/duckdb/meta/meta-tables.js';
import type { PushedClaims } from '../../src/storage/sender-queue.js';
import { aUser, anEndpoint, anOrganization } from '../storage/meta-records.js';
import { openMetaTables } from '../storage/opened-meta-tables.js';
import { NOON } from '../support/run-records.js';
import { anEventOf } from './delivery-place.js';

const LIMITS = { limit: 10, perEndpoint: 4, perOrganization: 10 };

/** Says once that a commit failed which was made. */
class Doubtful extends Connection {
  isArmed = false;

  override async run(sql: string): Promise<void> {
    await super.run(sql);
    if (!this.isArmed || !sql.endsWith('COMMIT')) return;
    this.isArmed = false;
    throw new Error('nobody knows');
  }
}

void t.test('a commit that failed and was made leaves no claim that nobody holds', async (t) => {
  const opened = await openMetaTables(t);
  const { raw, files } = await opened.connect();
  const connection = new Doubtful(raw, files);
  await connection.run(`USE ${MAIN}`);
  const tables = await MetaTables.open(connection, {
    file: opened.file,
    eventsWritten: () => undefined,
    agentName: () => undefined,
  });
  const user = aUser();
  await tables.createUser(user);
  await tables.createOrganization(anOrganization('acme'));
  await tables.putMember('acme', user.id, 'member');
  await tables.createEndpoint('acme', anEndpoint({ event_types: ['*'] }));

  const { deliveries } = tables;
  const pushes: PushedClaims[] = [];
  deliveries.pushTo(LIMITS, (push) => pushes.push(push));
  const batch = { tenant: user.id, items: [anEventOf(NOON, {})] };
  connection.isArmed = true;
  await t.rejects(deliveries.addDeliveries(batch, NOON), { message: 'nobody knows' });
  t.same(pushes, [], 'the sender knows of nothing');

  t.same(await deliveries.addDeliveries(batch, NOON), { added: 0, isPushed: false }, 'it is to ask');
  const { claims } = await deliveries.claimDeliveries({ ...LIMITS, now: NOON, held: [] });
  t.match(claims, [{ attempt: 2, event_id: batch.items[0]?.id }], 'the first attempt was never told');

  const next = { ...batch, items: [anEventOf(NOON, {})] };
  t.same(await deliveries.addDeliveries(next, NOON), { added: 1, isPushed: true });
  t.match(pushes, [{ claims: [{ attempt: 1 }] }]);
});
