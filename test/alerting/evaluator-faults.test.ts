import t from 'tap';
import { withFiring } from '../../src/alerting/evidence.js';
import { aDecision } from '../support/kept-rules.js';
import { until } from '../support/until.js';
import { AGENT, aRule, BAD, GOOD } from './alert-samples.js';
import { EvaluatorPlace, firing, SOURCE, startedPlace } from './evaluator-place.js';

const MINUTE_MS = 60_000;

function gate(): { readonly opened: Promise<void>; readonly open: () => void } {
  let open = (): void => undefined;
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

void t.test('rereads a rule that another process fired meanwhile', async (t) => {
  const rule = aRule({ cooldown_minutes: 10 });
  const place = await startedPlace(t, async (place) => {
    await firing(place, rule);
    const { store, clock } = place;
    store.hints = false;
    store.before('recordFirings', () => {
      const evidence = withFiring(null, SOURCE, ['1']);
      return store.fireElsewhere(aDecision(rule, { firedAt: clock.now() - 5 * MINUTE_MS * 1000, evidence }));
    });
  });
  const { store } = place;
  t.same([store.firings.length, place.notified.fired], [0, 0]);
  await place.pass(5 * MINUTE_MS - 1000);
  t.equal(store.firings.length, 0, 'within the cooldown');
  await place.pass(30_000);
  t.match(store.firings, [{ firedAt: place.clock.now() }]);
});

void t.test('drops a deleted rule whose hint was lost', async (t) => {
  const place = await startedPlace(t, async (place) => {
    place.store.hints = false;
    const rule = await firing(place);
    place.store.before('recordFirings', () => place.store.delete(rule));
  });
  await place.passTicks(1);
  t.same(place.evaluated, [1, 0]);
});

void t.test('does not resolve an incident that is already resolved', async (t) => {
  let rule = aRule();
  const place = await startedPlace(t, async (place) => {
    rule = await firing(place);
    place.store.hints = false;
  });
  const { store } = place;
  store.stats.set(AGENT, GOOD);
  await place.passTicks(5);
  const incidentId = (await store.read(rule)).incident?.id ?? '';
  let tries = 0;
  store.before('recordResolutions', async () => {
    tries++;
    const resolvedAt = place.clock.now();
    await store.resolveElsewhere({ alertId: rule.alert.id, incidentId, resolvedAt, data: {} });
  });
  await place.passTicks(20);
  t.same([tries, store.resolutions.length, place.notified.resolved], [1, 0, 0]);
});

for (const method of ['observe', 'exampleTraces', 'recordFirings'] as const)
  void t.test(`retries a failed evaluation (${method}) within a second`, async (t) => {
    const place = await startedPlace(t, async (place) => {
      await firing(place);
      place.store.fail(method);
    });
    const { store } = place;
    t.same([store.firings.length, place.notified.failed, place.evaluated.length], [0, 1, 0]);
    t.same(place.isFailing, [true]);
    t.match(place.logger.lines, [/^warn Could not evaluate alerts.*the disk is full/]);
    await place.pass(999);
    t.equal(place.evaluated.length, 0);
    await place.pass(1);
    t.same([store.firings.length, place.evaluated.length], [1, 1]);
    t.same(place.isFailing, [true, false]);
  });

void t.test('retries changed rules after a store failure', async (t) => {
  const place = await startedPlace(t, async ({ store }) => {
    await store.add(aRule());
  });
  const { store } = place;
  store.stats.set(AGENT, BAD);
  place.touch();
  store.fail('observe');
  await place.pass(250);
  t.same([store.firings.length, place.notified.failed], [0, 1]);
  await place.pass(1000);
  t.equal(store.firings.length, 1);
});

void t.test('rereads rules soon after a failed read', async (t) => {
  const place = await startedPlace(t, ({ store }) => {
    store.stats.set(AGENT, BAD);
  });
  const { store } = place;
  store.fail('follow');
  store.fail('follow');
  await store.add(aRule());
  await place.settle();
  t.same([store.firings.length, place.notified.failed], [0, 1]);
  t.same(place.isFailing, [true]);
  await place.pass(1000);
  t.equal(store.firings.length, 1);
  t.same(place.isFailing, [true, false]);
});

void t.test('a failing store neither ends an incident nor causes a second firing', async (t) => {
  const place = await startedPlace(t, firing);
  const { store } = place;
  store.stats.set(AGENT, GOOD);
  await place.passTicks(1);
  for (let ticks = 0; ticks < 20; ticks++) {
    store.fail('observe');
    await place.passTicks(1);
  }
  store.stats.set(AGENT, BAD);
  await place.passTicks(2);
  t.same([store.firings.length, store.resolutions.length, place.notified.failed], [1, 0, 20]);
  t.same(place.isFailing, [true, false]);
});

void t.test('retries a failed resolution', async (t) => {
  const place = await startedPlace(t, firing);
  const { store } = place;
  store.stats.set(AGENT, GOOD);
  store.fail('recordResolutions');
  await place.passTicks(11);
  t.same([store.resolutions.length, place.notified.failed], [0, 1]);
  await place.pass(1000);
  t.equal(store.resolutions.length, 1);
});

void t.test('retries a failing store with backoff, at least once an interval', async (t) => {
  const place = await startedPlace(t, async (place) => {
    await firing(place);
    for (let times = 0; times < 8; times++) place.store.fail('observe');
  });
  const failedAt: number[] = [];
  for (let second = 1; second <= 100; second++) {
    const before = place.notified.failed;
    await place.pass(1000);
    if (place.notified.failed > before) failedAt.push(second);
  }
  // Ticks in between come at 30, 60 and 90.
  t.same(failedAt, [1, 3, 7, 15, 30, 31, 60]);
  t.equal(place.store.firings.length, 1);
  place.store.fail('observe');
  await place.passTicks(1);
  const failed = place.notified.failed;
  place.store.fail('observe');
  await place.pass(1000);
  t.equal(place.notified.failed, failed + 1, 'a success resets the backoff');
});

void t.test('retries a failed beat', async (t) => {
  const place = await startedPlace(t);
  const { store, clock } = place;
  store.fail('beat');
  await place.passTicks(1);
  t.equal(place.notified.failed, 1);
  await place.passTicks(1);
  t.equal(store.lastBeat, clock.now());
});

void t.test('a failed start leaves nothing behind', async (t) => {
  const place = await EvaluatorPlace.open(t);
  await firing(place);
  place.store.fail('follow');
  await t.rejects(place.start(), { message: 'the disk is full' });
  t.equal(place.store.watchers, 0);
  await place.passTicks(2);
  t.same(place.store.observed, []);
  await place.stop();
  t.equal(place.store.lastBeat, null);
});

void t.test('starts without a beat and evaluates nothing until the beat succeeds', async (t) => {
  const place = await EvaluatorPlace.open(t);
  await firing(place);
  place.store.fail('beat');
  await place.start();
  await place.passTicks(1);
  t.equal(place.notified.failed, 1);
  t.equal(place.store.lastBeat, place.clock.now());
  t.ok(place.store.observed.length > 0);
  await place.stop();
});

void t.test('evaluations never overlap: due rules wait for the next one', async (t) => {
  const { opened, open } = gate();
  const place = await startedPlace(t, async (place) => {
    await firing(place);
    place.store.before('observe', () => opened);
  });
  const { store } = place;
  await place.passTicks(4);
  place.touch();
  await place.pass(1000);
  t.equal(store.observed.length, 0);
  open();
  await place.settle();
  t.same([store.observed.length, store.firings.length], [2, 1]);
});

void t.test('a stop waits for the evaluation in progress and records its time', async (t) => {
  const { opened, open } = gate();
  const place = await startedPlace(t, async (place) => {
    await firing(place);
    place.store.before('recordFirings', () => opened);
  });
  const { store, clock } = place;
  clock.advance(10_000);
  let isStopped = false;
  const stopped = place.stop().then(() => (isStopped = true));
  await place.settle();
  t.notOk(isStopped);
  open();
  await stopped;
  t.same([store.firings.length, store.lastBeat, store.watchers], [1, clock.now(), 0]);
  place.touch();
  await place.passTicks(3);
  t.equal(store.observed.length, 1, 'nothing continues');
});

void t.test('a stop does not wait beyond the deadline', async (t) => {
  const { opened, open } = gate();
  const place = await startedPlace(t, async (place) => {
    await firing(place);
    place.store.before('observe', () => opened);
  });
  const deadline = new AbortController();
  const stopped = place.stop(deadline.signal);
  deadline.abort();
  await stopped;
  t.same(place.store.firings, []);
  open();
});

void t.test('a stopped evaluation starts nothing more', async (t) => {
  const { opened, open } = gate();
  const place = await startedPlace(t, async (place) => {
    await firing(place);
    place.store.before('observe', () => opened);
  });
  const stopped = place.stop();
  open();
  await stopped;
  t.same(place.store.firings, []);
  await place.restart();
  t.equal(place.store.firings.length, 1);
});

void t.test('writes many firings in groups', async (t) => {
  const place = await EvaluatorPlace.open(t);
  const { store } = place;
  const counts: number[] = [];
  for (let times = 0; times < 3; times++)
    store.before('recordFirings', () => counts.push(store.firings.length));
  for (let at = 0; at < 250; at++) await firing(place);
  await place.start();
  await until('all have fired', () => place.evaluated.length > 0);
  t.same(counts, [0, 100, 200]);
  t.equal(place.notified.fired, 250);
});
