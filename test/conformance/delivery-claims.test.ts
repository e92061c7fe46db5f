import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import type { ControlStore } from '../../src/storage/contracts/control-store.js';
import { SqlControlStore } from '../../src/storage/control/sql-control-store.js';
import { openSqlite } from '../../src/storage/control/sqlite/open-sqlite.js';
import type { DeliveryClaim } from '../../src/storage/contracts/deliveries.js';
import { HandClock } from '../support/hand-clock.js';
import { anEndpoint } from '../storage/duckdb/meta-records.js';
import { NOON } from '../support/run-records.js';
import { testFolder } from '../support/test-folder.js';
import { until } from '../support/until.js';
import { onEveryControl, type OpenControl } from './control-stores.js';
import {
  HOUR,
  LONG,
  RULES,
  SHORT,
  anOwner,
  count,
  failure,
  idOf,
  only,
  request,
  result,
  some,
} from './delivery-records.js';

function checkClaims(t: Test, open: OpenControl): void {
  void t.test(
    'concurrent senders never hold one delivery under one token and stay within their limits',
    async (t) => {
      const opened = await open(t);
      const stores = [opened.store, await opened.another()];
      const one = await anOwner(opened.store, 'one', 2);
      const two = await anOwner(opened.store, 'two', 1);
      await opened.store.deliveries.enqueue([...some(30, one.userId), ...some(30, two.userId)], NOON);
      const limits = { limit: 3, perEndpoint: 4, perOrganization: 6 };
      const tokens = new Set<string>();
      const underWay = new Map<string, number>();
      let most = 0;
      let isOver = false;
      const count = (claims: readonly DeliveryClaim[], by: 1 | -1): void => {
        for (const { endpoint_id } of claims) {
          const now = (underWay.get(endpoint_id) ?? 0) + by;
          underWay.set(endpoint_id, now);
          most = Math.max(most, now);
        }
        const ofOne = (underWay.get(idOf(one, 0)) ?? 0) + (underWay.get(idOf(one, 1)) ?? 0);
        isOver ||= ofOne > limits.perOrganization;
      };
      const send = async ({ deliveries }: ControlStore): Promise<void> => {
        for (;;) {
          const { claims } = await deliveries.claim(request(limits));
          count(claims, 1);
          for (const { delivery_id, attempt } of claims) {
            const token = `${delivery_id} ${String(attempt)}`;
            t.notOk(tokens.has(token));
            tokens.add(token);
          }
          if (claims.length === 0 && (await deliveries.stats(NOON)).pending === 0) return;
          await new Promise(setImmediate);
          count(claims, -1);
          await deliveries.finish(
            claims.map((claim) => result(claim)),
            RULES,
          );
        }
      };
      await Promise.all([...stores, ...stores].map(send));
      t.equal(tokens.size, 90);
      t.ok(most <= limits.perEndpoint);
      t.notOk(isOver);
    },
  );

  void t.test('limits apply to the claims of all senders', async (t) => {
    const opened = await open(t);
    const [here, there] = [opened.store, await opened.another()];
    const owner = await anOwner(here, 'one', 3);
    await here.deliveries.enqueue(some(5, owner.userId), NOON);
    const limits = { perEndpoint: 2, perOrganization: 5 };
    const one = await here.deliveries.claim(request({ ...limits, limit: 4 }));
    t.equal(one.claims.length, 4);
    t.ok((one.nextDueAt ?? Infinity) <= NOON, 'there are more');
    const two = await there.deliveries.claim(request(limits));
    t.equal(two.claims.length, 1);
    t.same(
      [...count([...one.claims, ...two.claims], (claim) => claim.endpoint_id).values()].sort(),
      [1, 2, 2],
    );
    const three = await here.deliveries.claim(request(limits));
    t.equal(three.claims.length, 0);
    t.ok((three.nextDueAt ?? 0) > NOON, 'none fits before a claim ends');
  });

  void t.test('alternates between organizations and between their endpoints', async (t) => {
    const { store } = await open(t);
    const loud = await anOwner(store, 'loud', 3);
    const quiet = await anOwner(store, 'quiet');
    await store.deliveries.enqueue(some(20, loud.userId), NOON - HOUR);
    await store.deliveries.enqueue(some(3, quiet.userId), NOON);
    const { claims } = await store.deliveries.claim(request({ limit: 6 }));
    t.same(
      count(claims, ({ endpoint_id }) => endpoint_id),
      new Map([[idOf(quiet), 3], ...loud.endpoints.map(({ id }): [string, number] => [id, 1])]),
    );
    const next = await store.deliveries.claim(request({ limit: 3 }));
    t.equal(count(next.claims, ({ endpoint_id }) => endpoint_id).size, 3);
  });

  void t.test('alternates organizations at a host, whose limit spans all endpoints', async (t) => {
    const { store } = await open(t);
    const loud = await anOwner(store, 'loud', 12);
    const quiet = await anOwner(store, 'quiet');
    const elsewhere = anEndpoint({ url: 'https://elsewhere.example/' });
    const sameHost = anEndpoint({ url: 'https://EXAMPLE.com.:8443/other' });
    for (const endpoint of [elsewhere, sameHost]) await store.endpoints.create('loud', endpoint);
    await store.deliveries.enqueue(some(1, loud.userId), NOON - HOUR);
    await store.deliveries.enqueue(some(9, quiet.userId), NOON);
    const limits = { perHost: 6, perEndpoint: 4, perOrganization: 8 };
    const first = await store.deliveries.claim(request(limits));
    const ofQuiet = first.claims.filter(({ endpoint_id }) => endpoint_id === idOf(quiet));
    t.equal(ofQuiet.length, 3);
    t.equal(first.claims.length, 7);
    t.ok(first.claims.some(({ endpoint_id }) => endpoint_id === elsewhere.id));
    t.ok((first.nextDueAt ?? 0) > NOON, 'none fits before a claim ends');
    t.strictSame((await store.deliveries.claim(request(limits))).claims, []);
    await store.deliveries.finish(
      first.claims.map((claim) => result(claim)),
      RULES,
    );
    t.equal((await store.deliveries.claim(request(limits))).claims.length, 6);
  });

  void t.test('an expired claim is interrupted and due again; its token has no effect', async (t) => {
    const opened = await open(t);
    const { deliveries } = opened.store;
    const other = (await opened.another()).deliveries;
    const owner = await anOwner(opened.store, 'one');
    await deliveries.enqueue(some(2, owner.userId), NOON);
    const { claims } = await deliveries.claim(request({ leaseMs: SHORT }));
    const [late, kept] = claims;
    if (late === undefined || kept === undefined) throw new Error('two are due');
    t.strictSame(await deliveries.renew([kept], LONG), [kept]);
    t.strictSame(await deliveries.renew([{ ...kept, attempt: 2 }], LONG), []);
    await opened.pass(SHORT);
    const again = only((await other.claim(request())).claims);
    t.match(again, { delivery_id: late.delivery_id, attempt: 2, step: 0 });
    t.strictSame(await deliveries.renew([late], LONG), []);
    t.same(await deliveries.finish([failure(late)], { ...RULES, breakerThreshold: 1 }), []);
    t.match(await deliveries.read('one', late.delivery_id), {
      status: 'pending',
      attempts: [
        { attempt_number: 1, duration_ms: null, error_message: /^interrupted/ },
        { attempt_number: 2, error_message: null },
      ],
    });
    t.match(await opened.store.endpoints.find(idOf(owner)), { consecutive_failures: 0, is_active: true });
    await other.finish([result(again), result(kept)], RULES);
    t.same(await other.stats(NOON), { pending: 0, overdueMs: 0 });
  });

  void t.test('notifies watchers of due deliveries', async (t) => {
    const opened = await open(t);
    const there = await opened.another();
    const owner = await anOwner(opened.store, 'one');
    let notifications = 0;
    there.watch.watch('deliveries', () => {
      notifications++;
    });
    await opened.store.deliveries.enqueue(some(1, owner.userId), NOON);
    await until('the notification arrives', () => notifications > 0);
  });
}

await onEveryControl(t, checkClaims);

void t.test('a delivery is due again immediately if its process dies between claim and result', async (t) => {
  const path = join(testFolder(t), 'control.db');
  const clock = new HandClock();
  const before = new SqlControlStore(await openSqlite({ path, clock }));
  const { userId } = await anOwner(before, 'one');
  await before.deliveries.enqueue(some(1, userId), clock.now());
  await before.close();
  const app = fileURLToPath(new URL('../support/control-claimer-app.js', import.meta.url));
  const child = spawn(process.execPath, [app, path, '1000'], { stdio: ['ignore', 'pipe', 'inherit'] });
  t.teardown(() => child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  let message = '';
  for await (const line of createInterface({ input: child.stdout })) {
    message = line;
    child.kill('SIGKILL');
  }
  t.same(await exited, [null, 'SIGKILL']);
  const lost = only(JSON.parse(message) as DeliveryClaim[]);
  const store = new SqlControlStore(await openSqlite({ path, clock }));
  t.teardown(() => store.close());
  // Immediately: the claim ends with its process, regardless of its lease.
  const again = only((await store.deliveries.claim(request({ now: clock.now() }))).claims);
  t.match(again, { delivery_id: lost.delivery_id, attempt: 2, step: 0 });
  await store.deliveries.finish([result(again)], { ...RULES, now: clock.now() });
  t.match(await store.deliveries.read('one', lost.delivery_id), {
    status: 'success',
    attempts: [{ error_message: /^interrupted/ }, { http_status_code: 200 }],
  });
});
