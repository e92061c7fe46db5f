import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { sent, type Channel, type Outcome } from '../../../src/exporters/alerts/channel.js';
import { Notifier } from '../../../src/exporters/alerts/notifier.js';
import type { ClaimedNotice } from '../../../src/storage/contracts/alerts.js';
import { HandClock } from '../../support/hand-clock.js';
import { PlacedNotices } from '../../support/placed-notices.js';
import { RecordingLogger } from '../../support/recording-logger.js';
import { until } from '../../support/until.js';

const NEVER = new AbortController().signal;

const WITHOUT_LIMITS = {
  free: { email: 999, webhook: 999 },
  perUser: { email: 999, webhook: 999 },
  perHost: 1e6,
  leaseMs: 60_000,
};

interface Attempt {
  readonly notice: ClaimedNotice;
  readonly end: (outcome?: Partial<Outcome>) => void;
  readonly fail: (error: Error) => void;
}

/** A notifier whose attempts end when the test says so. */
async function startLoop(t: Test, over?: { readonly store: PlacedNotices; readonly clock: HandClock }) {
  const clock = over?.clock ?? new HandClock();
  const store = over?.store ?? (await PlacedNotices.open(t, clock));
  const logger = new RecordingLogger();
  const attempts: Attempt[] = [];
  const results: string[] = [];
  const statuses: boolean[] = [];
  const channel: Channel = {
    toSkip: () => null,
    skipped: () => undefined,
    send: (notice, signal) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => {
          reject(signal.reason as Error);
        });
        attempts.push({
          notice,
          end: (outcome = {}) => {
            resolve({ ...sent(250, 7), ...outcome });
          },
          fail: reject,
        });
      }),
  };
  const notifier = new Notifier({
    notices: store.notices,
    watch: store.watch,
    channels: { email: channel, webhook: channel },
    clock,
    random: () => 0.5,
    logger,
    onStore: (isFailing) => statuses.push(isFailing),
    onResult: (...result) => results.push(result.join(' ')),
  });
  t.teardown(() => notifier.stop(AbortSignal.abort()));
  return { store, clock, logger, attempts, results, statuses, notifier };
}

/** Lets all immediate work run. */
async function settle(): Promise<void> {
  for (let i = 0; i < 30; i++) await turn();
}

void t.test('sends due notices and records their results', async (t) => {
  const { store, clock, attempts, results } = await startLoop(t);
  await store.put('webhook', clock.now(), { attempts: 2 });
  await until('it is begun', () => attempts.length === 1);
  const begun = clock.now();
  clock.advance(7);
  attempts[0]?.end();
  await until('it is recorded', () => store.results.length === 1);
  t.match(store.results, [
    {
      status: 'sent',
      detail: null,
      attempt: {
        attempt_number: 3,
        attempted_at: begun,
        status_code: 250,
        duration_ms: 7,
        error_message: null,
      },
      retryAt: null,
    },
  ]);
  t.strictSame(results, ['webhook sent']);
  t.equal((await store.control.notices.claim({ ...WITHOUT_LIMITS, now: clock.now() })).items.length, 0);
});

void t.test('sends a later notice on time and rarely polls meanwhile', async (t) => {
  const { store, clock, attempts } = await startLoop(t);
  await store.put('webhook', clock.now() + 30_000_000);
  await settle();
  const asked = store.asked.length;
  clock.advance(29_999);
  await settle();
  t.ok(store.asked.length <= asked + 2, 'every 10 s for abandoned notices');
  clock.advance(1);
  await until('it is begun', () => attempts.length === 1);
  attempts[0]?.end({ status: 'pending', retryMs: 5000 });
  await until('it is recorded', () => store.results.length === 1);
  t.equal(store.results[0]?.retryAt, clock.now() + 5_000_000);
  await settle();
  clock.advance(5000);
  await until('it is sent again', () => attempts.length === 2);
  t.equal(attempts[1]?.notice.attempts, 1);
});

void t.test('sends at most 4 per user, 2 mails and 16 in total, without blocking others', async (t) => {
  const { store, clock, attempts } = await startLoop(t);
  for (let i = 0; i < 100; i++) await store.put('webhook', clock.now(), { user: 'busy' });
  for (let i = 0; i < 5; i++) await store.put('email', clock.now(), { user: `mail ${i}` });
  for (let i = 0; i < 30; i++)
    await store.put('webhook', clock.now(), { user: `user ${i}`, webhookUrl: `https://${i}.test/` });
  const busy = await store.userOf('busy');
  await until('the places are full', () => attempts.length === 16);
  await settle();
  const under = (what: (notice: ClaimedNotice) => boolean) =>
    attempts.filter(({ notice }) => what(notice)).length;
  t.equal(attempts.length, 16);
  t.equal(
    under(({ userId }) => userId === busy),
    1,
    'users alternate',
  );
  t.equal(
    under(({ channel }) => channel === 'email'),
    2,
  );
  let most = 0;
  for (let done = 0; done < 135; done++) {
    attempts[done]?.end();
    await until('it is recorded', async () => {
      clock.advance(1);
      await turn();
      return store.results.length === done + 1;
    });
    await settle();
    const open = attempts.slice(done + 1).map(({ notice }) => notice);
    most = Math.max(most, open.filter(({ userId }) => userId === busy).length);
    if (open.length > 16) t.fail('too many');
  }
  t.equal(most, 4);
  t.equal(new Set(attempts.map(({ notice }) => notice.number)).size, 135, 'each once');
  t.equal(attempts.length, 135);
});

void t.test('retries after a store failure without losing results', async (t) => {
  const { store, clock, attempts, statuses, logger } = await startLoop(t);
  await settle();
  await store.put('email', clock.now());
  store.faults.claim.push(new Error('the disk is full'));
  await settle();
  t.strictSame(statuses, [true]);
  t.match(logger.lines.join('\n'), /the sender of notices of alerts; retrying.*the disk is full/);
  clock.advance(250);
  await until('it is begun', () => attempts.length === 1);
  store.faults.finish.push(new Error('the disk is full'), new Error('the disk is full'));
  attempts[0]?.end();
  await settle();
  await settle();
  await store.put('webhook', clock.now() + 3_600_000_000);
  await settle();
  t.match(store.asked.at(-1)?.free, { email: 1 }, 'its slot is taken meanwhile');
  for (const ms of [250, 500]) {
    t.strictSame(store.results, []);
    clock.advance(ms);
    await settle();
  }
  t.match(store.results, [{ status: 'sent' }]);
  t.equal(attempts.length, 1);
  t.strictSame(statuses, [true, false, true, false]);
});

void t.test('a notice that cannot be built fails and blocks nothing', async (t) => {
  const { store, clock, attempts, results, logger } = await startLoop(t);
  await store.put('email', clock.now());
  await until('it is begun', () => attempts.length === 1);
  attempts[0]?.fail(new Error('no such thing'));
  await until('it is recorded', () => store.results.length === 1);
  t.match(store.results, [
    { status: 'failed', attempt: { error_message: 'Could not create the notice' }, retryAt: null },
  ]);
  t.strictSame(results, ['email failed']);
  t.match(logger.lines.join('\n'), /because of an internal error.*no such thing/);
});

void t.test(
  'a stop claims no more, waits for pending notices and interrupts them at the deadline',
  async (t) => {
    const { store, clock, attempts, notifier } = await startLoop(t);
    for (let i = 0; i < 2; i++) await store.put('webhook', clock.now());
    await until('both are begun', () => attempts.length === 2);
    const deadline = new AbortController();
    let hasStopped = false;
    const stopped = notifier.stop(deadline.signal).then(() => (hasStopped = true));
    await store.put('webhook', clock.now());
    attempts[0]?.end();
    await settle();
    clock.advance(3);
    await settle();
    t.match(store.results, [{ status: 'sent' }]);
    t.notOk(hasStopped);
    t.equal(attempts.length, 2);
    deadline.abort();
    await stopped;
    t.equal(store.results.length, 1, 'interrupted attempts are not recorded');
    const { items } = await store.control.notices.claim({ ...WITHOUT_LIMITS, now: clock.now() });
    t.equal(items.length, 2, 'it and newer notices are available to the next sender immediately');
    t.equal(store.watchers, 0);
    await notifier.stop(NEVER);
  },
);

void t.test('renews the lease of slow attempts', async (t) => {
  const { store, clock, attempts } = await startLoop(t);
  await store.put('webhook', clock.now());
  await until('it is begun', () => attempts.length === 1);
  const others = async (): Promise<number> =>
    (await store.control.notices.claim({ ...WITHOUT_LIMITS, now: clock.now() })).items.length;
  store.faults.renew.push(new Error('the disk is full'), new Error('the disk is full'));
  for (let seconds = 0; seconds < 100; seconds += 5) {
    clock.advance(5000);
    await settle();
    t.equal(await others(), 0);
  }
  attempts[0]?.end();
  await until('it is recorded', () => store.results.length === 1);
  const { length } = store.renewed;
  clock.advance(60_000);
  await settle();
  t.equal(store.renewed.length, length, 'settled notices are not renewed');
});

void t.test('takes over abandoned notices after their lease', async (t) => {
  const { store, clock, attempts, notifier } = await startLoop(t);
  await notifier.stop(NEVER);
  await store.put('email', clock.now());
  await store.control.notices.claim({ ...WITHOUT_LIMITS, now: clock.now(), leaseMs: 30_000 });
  const next = await startLoop(t, { store, clock });
  clock.advance(29_000);
  await settle();
  t.equal(next.attempts.length, 0);
  clock.advance(11_000);
  await until('it is begun', () => next.attempts.length === 1);
  t.equal(attempts.length, 0);
});
