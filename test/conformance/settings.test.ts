import t, { type Test } from 'tap';
import { NOON } from '../support/run-records.js';
import { until } from '../support/until.js';
import { onEveryControl, type OpenControl } from './control-stores.js';

function checkSettings(t: Test, open: OpenControl): void {
  void t.test('settings of each process apply until they expire or are withdrawn', async (t) => {
    const opened = await open(t);
    const [here, there] = [opened.store, await opened.another()];
    let notifications = 0;
    there.watch.watch('terms', () => {
      notifications++;
    });
    t.same(await here.settings.all(NOON), []);
    const quota = { quota: { store: 'a', monthly_events: 5 } };
    const all = {
      quota: { store: 'a', monthly_events: 0 },
      targets: { allow_cidrs: ['10.0.0.0/8', '::1/128'] },
      alerting: { windowMs: 60_000, minSamples: 3, timezone: 'Europe/Berlin' },
    };
    await here.settings.publish('b', quota, NOON + 10);
    await until('the other process is notified', () => notifications > 0);
    await there.settings.publish('a', {}, NOON + 20);
    t.strictSame(await here.settings.all(NOON + 9), [{}, quota]);
    await there.settings.publish('a', all, NOON + 30);
    t.strictSame(await here.settings.all(NOON + 10), [all]);
    await here.settings.publish('b', quota, NOON + 20);
    const { settings } = await opened.reopen();
    t.strictSame(await settings.all(NOON + 10), [all, quota]);
    await settings.withdraw('b');
    await settings.withdraw('nobody');
    t.strictSame(await settings.all(NOON), [all]);
    t.strictSame(await settings.all(NOON + 30), []);
  });
}

await onEveryControl(t, checkSettings);
