import t, { type Test } from 'tap';
import { SoleWorker } from '../../src/storage/shared/sole-worker.js';
import { systemClock } from '../../src/telemetry/system-clock.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { until } from '../support/until.js';
import { onEveryControl, type OpenControl } from './control-stores.js';

const LONG = 600_000;
const SHORT = 50;

function checkLeases(t: Test, open: OpenControl): void {
  void t.test('a lease belongs to one owner until released', async (t) => {
    const opened = await open(t);
    const [one, two] = [opened.store.leases, (await opened.another()).leases];
    const lease = await one.take('alerts', 'a', LONG);
    t.strictSame(lease, { name: 'alerts', owner: 'a', token: 1 });
    t.equal(await two.take('alerts', 'b', LONG), null);
    t.match(await two.take('retention', 'b', LONG), { token: 1 }, 'another name is free');
    if (lease === null) return;
    t.ok(await one.renew(lease, LONG));
    await one.release(lease);
    await one.release(lease);
    t.notOk(await one.renew(lease, LONG), 'what was given back is not renewed');
    t.strictSame(await two.take('alerts', 'b', LONG), { name: 'alerts', owner: 'b', token: 2 });
    t.notOk(await one.renew(lease, LONG), 'nor what somebody else has');
    await one.release(lease);
    t.equal(await one.take('alerts', 'a', LONG), null, 'the owner still holds it');
  });

  void t.test('an unrenewed lease expires and its token becomes stale', async (t) => {
    const opened = await open(t);
    const [one, two] = [opened.store.leases, (await opened.another()).leases];
    const late = await one.take('alerts', 'a', SHORT);
    const kept = await one.take('retention', 'a', SHORT);
    if (late === null || kept === null) throw new Error('both are free');
    t.ok(await one.renew(kept, LONG));
    await opened.pass(SHORT);
    t.equal(await two.take('retention', 'b', LONG), null, 'it was renewed');
    t.match(await two.take('alerts', 'b', LONG), { owner: 'b', token: 2 });
    t.notOk(await one.renew(late, LONG));
  });

  void t.test('an expired lease that nobody took can be renewed', async (t) => {
    const opened = await open(t);
    const lease = await opened.store.leases.take('alerts', 'a', SHORT);
    if (lease === null) throw new Error('it is free');
    await opened.pass(SHORT);
    t.ok(await opened.store.leases.renew(lease, LONG));
    t.equal(await opened.store.leases.take('alerts', 'b', LONG), null);
  });

  void t.test('taking a held lease again returns a new token; tokens grow over restarts', async (t) => {
    const opened = await open(t);
    const first = await opened.store.leases.take('alerts', 'a', LONG);
    t.match(await opened.store.leases.take('alerts', 'a', LONG), { token: 2 });
    if (first !== null) t.notOk(await opened.store.leases.renew(first, LONG), 'the old one is behind');
    const { leases } = await opened.reopen();
    t.match(await leases.take('alerts', 'a', LONG), { token: 3 });
  });

  void t.test('of concurrent requests, one gets the lease', async (t) => {
    const opened = await open(t);
    const stores = [opened.store, await opened.another()];
    for (let round = 0; round < 10; round++) {
      const taken = await Promise.all(
        Array.from({ length: 12 }, async (_, i) =>
          stores[i % 2]?.leases.take(`round ${String(round)}`, `owner ${String(i)}`, LONG),
        ),
      );
      t.equal(taken.filter((lease) => lease !== null).length, 1);
    }
  });

  void t.test('a worker that cannot start is not logged as an unreadable lease', async (t) => {
    const { leases } = (await open(t)).store;
    const logger = new RecordingLogger();
    const worker = new SoleWorker({
      ...{ leases, name: 'alerts', owner: 'a', clock: systemClock, logger },
      begin: async () => await Promise.reject(new Error('no rules')),
      ask: async (question) => await question(),
      words: { does: 'evaluates alerts', doing: 'evaluating alerts', lost: 'No longer evaluates alerts' },
    });
    await until('it is logged', () => logger.lines.length > 0);
    await worker.stop(AbortSignal.abort());
    t.match(logger.lines[0], /^warn Could not start or stop evaluating alerts; retrying err=no rules/);
  });
}

await onEveryControl(t, checkLeases);
