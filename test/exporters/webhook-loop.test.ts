import { setImmediate as turn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { limitsOf, startDeliveryLoop } from '../../src/exporters/webhook/delivery-loop.js';
import { Upkeep } from '../../src/exporters/webhook/upkeep.js';
import type { DeliveryClaim, FinishedAttempt } from '../../src/storage/delivery-store.js';
import { HandClock } from '../support/hand-clock.js';
import { MemoryDeliveryQueue } from '../support/memory-delivery-queue.js';
import { RecordingLogger } from '../support/recording-logger.js';
import { until } from '../support/until.js';

const NEVER = new AbortController().signal;

interface Attempt {
  readonly claim: DeliveryClaim;
  readonly signal: AbortSignal;
  readonly end: (result?: Partial<FinishedAttempt>) => void;
}

/** A loop whose attempts end when and how a test wants. */
function startLoop(t: Test, { maxConcurrency = 10, perEndpoint = 4 } = {}) {
  const queue = new MemoryDeliveryQueue();
  const clock = new HandClock();
  const logger = new RecordingLogger();
  const attempts: Attempt[] = [];
  const statuses: boolean[] = [];
  const pauses: (readonly string[])[] = [];
  const counts: number[] = [];
  const start = () =>
    startDeliveryLoop({
      queue,
      attempt: (claim, signal) =>
        new Promise((resolve) => {
          signal.addEventListener('abort', () => {
            resolve(null);
          });
          attempts.push({
            claim,
            signal,
            end: (result = {}) => {
              resolve({ ...DELIVERED, delivery: claim.delivery, lease: claim.lease, ...result });
            },
          });
        }),
      options: { limits: limitsOf(maxConcurrency, perEndpoint), breakerThreshold: 20 },
      clock,
      random: () => 0.5,
      logger,
      onStore: (isFailing) => statuses.push(isFailing),
      onPaused: (endpoints) => pauses.push(endpoints),
      onUnderWay: (count) => counts.push(count),
    });
  const loop = start();
  queue.watchDeliveries(() => {
    loop.wake();
  });
  t.teardown(() => loop.stop(AbortSignal.abort()));
  const begun = (count: number) => until(`${count} attempts`, () => attempts.length === count);
  return { queue, clock, logger, attempts, statuses, pauses, counts, loop, begun };
}

const DELIVERED = {
  succeeded: true,
  statusCode: 200,
  responseBody: '',
  durationMs: 1,
  error: null,
  retryAt: null,
  isGone: false,
};

/** Lets everything happen that is to happen at once. */
async function settle(): Promise<void> {
  for (let i = 0; i < 20; i++) await turn();
}

void t.test(
  'what is due at the start is claimed, half of the places for one organization at most',
  async (t) => {
    const { queue, clock, attempts, loop, begun } = startLoop(t);
    queue.put(1, 'a', clock.now());
    await begun(1);
    t.match(queue.claims[0], { now: clock.now(), limit: 10, perEndpoint: 4, perOrganization: 5, held: [] });
    t.equal(loop.underWay, 1);
    attempts[0]?.end();
    await until('it is recorded', () => queue.groups.length === 1);
    t.match(queue.groups, [[{ delivery: 1, lease: 1, succeeded: true }]]);
  },
);

void t.test('it sleeps until somebody calls or something is due, and asks nothing meanwhile', async (t) => {
  const { queue, clock, begun } = startLoop(t);
  await settle();
  t.equal(queue.claims.length, 1);
  clock.advance(3_600_000);
  await settle();
  t.equal(queue.claims.length, 1, 'nothing waits: nothing is asked in an hour');

  queue.put(1, 'a', clock.now() + 5_000_000);
  queue.call();
  await settle();
  t.equal(queue.claims.length, 2);
  clock.advance(4999);
  await settle();
  t.equal(queue.claims.length, 2);
  clock.advance(1);
  await begun(1);

  queue.put(2, 'a', clock.now());
  queue.call();
  queue.call();
  queue.call();
  await begun(2);
  t.equal(queue.claims.length, 4, 'calls of one step are one question');
});

void t.test('a time that is far off is looked at once a minute: clocks are turned', async (t) => {
  const { queue, clock, begun } = startLoop(t);
  queue.put(1, 'a', clock.now() + 86_400e6);
  queue.call();
  await settle();
  const before = queue.claims.length;
  clock.advance(59_999);
  await settle();
  t.equal(queue.claims.length, before);
  clock.advance(1);
  await settle();
  t.equal(queue.claims.length, before + 1);
  queue.put(1, 'a', clock.now());
  clock.advance(60_000);
  await begun(1);
});

void t.test('never more under way than there are places', async (t) => {
  const { queue, clock, attempts, begun } = startLoop(t, { maxConcurrency: 5, perEndpoint: 2 });
  for (let i = 0; i < 20; i++) queue.put(i, `endpoint ${i % 5}`, clock.now());
  queue.call();
  await begun(5);
  await settle();
  t.equal(attempts.length, 5);
  for (let done = 0; done < 20; done++) {
    attempts[done]?.end();
    await until('it is recorded', async () => {
      clock.advance(1);
      await turn();
      return queue.groups.flat().length === done + 1;
    });
    await begun(Math.min(20, done + 6));
  }
  t.ok(queue.claims.every(({ limit }) => limit <= 5));
  t.same(new Set(attempts.map(({ claim }) => claim.delivery)).size, 20);
});

void t.test('never more to one endpoint than its share, and others go on', async (t) => {
  const { queue, clock, attempts, begun } = startLoop(t);
  for (let i = 0; i < 10; i++) queue.put(i, 'slow', clock.now());
  queue.put(10, 'fast', clock.now());
  queue.call();
  await begun(5);
  await settle();
  t.strictSame(
    attempts.map(({ claim }) => claim.endpoint_id),
    ['slow', 'slow', 'slow', 'slow', 'fast'],
  );
  const asked = queue.claims.length;
  clock.advance(10_000);
  await settle();
  t.equal(queue.claims.length, asked, 'nothing is asked while nobody has room');
  attempts[0]?.end();
  await settle();
  clock.advance(3);
  await begun(6);
  t.equal(attempts[5]?.claim.endpoint_id, 'slow');
});

void t.test('results go together under load, and alone at once at rest', async (t) => {
  const { queue, clock, attempts, begun } = startLoop(t);
  queue.put(0, 'a', clock.now());
  queue.call();
  await begun(1);
  attempts[0]?.end();
  await until('it is recorded without waiting', () => queue.groups.length === 1);

  for (let i = 1; i <= 9; i++) queue.put(i, `endpoint ${i}`, clock.now());
  queue.call();
  await begun(10);
  for (const attempt of attempts.slice(1, 4)) attempt.end();
  await settle();
  t.equal(queue.groups.length, 1, 'the first waits a moment for others');
  attempts[4]?.end();
  await settle();
  const open = queue.hold();
  clock.advance(3);
  await until('a group is written', () => queue.groups.length === 2);
  t.equal(queue.groups[1]?.length, 4);
  for (const attempt of attempts.slice(5)) {
    attempt.end();
    await settle();
  }
  t.equal(queue.groups.length, 2, 'one transaction at a time');
  open();
  await until('the rest is written', () => queue.groups.length === 3);
  t.equal(queue.groups[2]?.length, 5, 'what came meanwhile goes together');
});

void t.test('a place is free as soon as the store is told the result', async (t) => {
  const { queue, clock, attempts, begun, loop } = startLoop(t, { maxConcurrency: 1 });
  for (const delivery of [1, 2, 3]) queue.put(delivery, 'a', clock.now());
  queue.call();
  await begun(1);
  const answer = queue.hold();
  attempts[0]?.end();
  await begun(2);
  t.equal(loop.underWay, 2);
  t.match(queue.claims.at(-1), { limit: 1, held: [{ delivery: 1 }] }, 'it is still named');
  attempts[1]?.end();
  await settle();
  t.equal(attempts.length, 2, 'results go one group after the other');
  answer();
  await begun(3);
  attempts[2]?.end();
  await until('all is recorded', () => loop.underWay === 0);
  t.equal(queue.groups.flat().length, 3);
});

void t.test('where a result cannot be recorded its place is not free before it is', async (t) => {
  const { queue, clock, attempts, begun, loop } = startLoop(t, { maxConcurrency: 1 });
  for (const delivery of [1, 2]) queue.put(delivery, 'a', clock.now());
  queue.call();
  await begun(1);
  queue.faults.finish.push(new Error('the disk is full'));
  attempts[0]?.end();
  queue.call();
  await settle();
  t.equal(attempts.length, 1);
  t.equal(loop.underWay, 1);
  clock.advance(250);
  await begun(2);
  t.equal(loop.underWay, 1);
});

void t.test('an attempt that failed is made again at its time', async (t) => {
  const { queue, clock, attempts, begun } = startLoop(t);
  queue.put(1, 'a', clock.now());
  queue.call();
  await begun(1);
  attempts[0]?.end({ succeeded: false, retryAt: clock.now() + 30_000_000 });
  await settle();
  clock.advance(29_999);
  await settle();
  t.equal(attempts.length, 1);
  clock.advance(1);
  await begun(2);
  t.match(attempts[1]?.claim, { delivery: 1, attempt: 2, step: 1 });
});

void t.test('a store that fails is asked again, and no result is lost', async (t) => {
  const { queue, clock, attempts, statuses, begun, logger } = startLoop(t);
  await settle();
  queue.put(1, 'a', clock.now());
  queue.faults.claim.push(new Error('the disk is full'), new Error('the disk is full'));
  queue.call();
  await settle();
  t.strictSame(statuses, [true]);
  t.match(logger.lines.join('\n'), /the disk is full/);
  const asked = queue.claims.length;
  queue.call();
  await settle();
  t.equal(queue.claims.length, asked, 'calls do not hurry it');
  clock.advance(250);
  await settle();
  clock.advance(500);
  await begun(1);
  t.strictSame(statuses, [true, false]);

  queue.faults.finish.push(...Array.from({ length: 3 }, () => new Error('the disk is full')));
  attempts[0]?.end();
  await settle();
  t.strictSame(statuses, [true, false, true]);
  for (const ms of [250, 500, 1000]) {
    t.equal(queue.groups.length, 0);
    clock.advance(ms);
    await settle();
  }
  t.match(queue.groups, [[{ delivery: 1, succeeded: true }]]);
  t.strictSame(statuses, [true, false, true, false]);
});

void t.test(
  'deliveries of a claim whose answer was lost are found when the store is asked again',
  async (t) => {
    const { queue, clock, attempts, begun } = startLoop(t);
    queue.put(1, 'a', clock.now());
    queue.call();
    await begun(1);
    const claim = queue.claimDeliveries.bind(queue);
    queue.claimDeliveries = async (request) => {
      await claim(request);
      queue.claimDeliveries = claim;
      throw new Error('the answer was lost');
    };
    queue.put(2, 'a', clock.now());
    queue.call();
    await settle();
    clock.advance(250);
    await begun(2);
    t.match(attempts[1]?.claim, { delivery: 2, attempt: 2 });
    t.strictSame(queue.claims.at(-1)?.held, [{ delivery: 1, lease: 1 }]);
  },
);

void t.test('what is under way or not recorded yet stays claimed, however long that takes', async (t) => {
  const { queue, clock, attempts, begun } = startLoop(t);
  for (const delivery of [1, 2]) queue.put(delivery, 'a', clock.now());
  queue.call();
  await begun(2);
  queue.faults.finish.push(...Array.from({ length: 8 }, () => new Error('the disk is full')));
  attempts[0]?.end();
  for (let minutes = 0; minutes < 3; minutes++) {
    clock.advance(60_000);
    queue.put(10 + minutes, 'b', clock.now());
    queue.call();
    await settle();
  }
  t.equal(queue.groups.length, 0);
  t.strictSame(queue.claims.at(-1)?.held.slice(0, 2), [
    { delivery: 1, lease: 1 },
    { delivery: 2, lease: 1 },
  ]);
  await until('it is recorded', async () => {
    clock.advance(30_000);
    await settle();
    return queue.groups.length > 0;
  });
  const numbers = attempts.map(({ claim }) => claim.delivery);
  t.strictSame(numbers, [1, 2, 10, 11, 12], 'each once');
});

void t.test('a store that promises what it does not give is not asked without end', async (t) => {
  const { queue, clock } = startLoop(t);
  await settle();
  queue.claimDeliveries = async (request) => {
    queue.claims.push(request);
    return { claims: [], nextDueAt: clock.now() };
  };
  queue.call();
  await settle();
  t.equal(queue.claims.length, 2);
  clock.advance(1000);
  await settle();
  t.equal(queue.claims.length, 3);
});

void t.test('what the store gives unasked is made at once, and named from then on', async (t) => {
  const { queue, clock, attempts, counts, loop, begun } = startLoop(t, { maxConcurrency: 3 });
  await settle();
  const asked = queue.claims.length;
  for (const delivery of [1, 2]) queue.put(delivery, 'a', clock.now());
  loop.accept(queue.give(2));
  t.equal(attempts.length, 2, 'in the same step');
  t.equal(loop.underWay, 2);
  await settle();
  t.equal(queue.claims.length, asked, 'nothing is asked for it');

  queue.put(3, 'a', clock.now());
  queue.call();
  await begun(3);
  t.match(queue.claims.at(-1), {
    limit: 1,
    held: [
      { delivery: 1, lease: 1 },
      { delivery: 2, lease: 1 },
    ],
  });
  for (const attempt of attempts) attempt.end();
  await until('all are recorded', () => {
    clock.advance(1);
    return loop.underWay === 0;
  });
  t.same(
    queue.groups.flat().map(({ delivery }) => delivery),
    [1, 2, 3],
  );
  t.same(counts, [1, 2, 3, 2, 1, 0], 'how many are under way is told');
});

void t.test(
  'what is given while the store is asked is no part of the answer, and keeps its place',
  async (t) => {
    const { queue, clock, attempts, loop, begun } = startLoop(t, { maxConcurrency: 2 });
    await settle();
    const claim = queue.claimDeliveries.bind(queue);
    queue.claimDeliveries = async (request) => {
      queue.claimDeliveries = claim;
      queue.put(1, 'a', clock.now());
      loop.accept(queue.give(1));
      queue.put(2, 'a', clock.now());
      return await claim({ ...request, limit: 1, held: [{ delivery: 1, lease: 1 }] });
    };
    queue.call();
    await begun(2);
    queue.put(3, 'a', clock.now());
    queue.call();
    await settle();
    t.equal(attempts.length, 2, 'all places are taken');
    attempts[0]?.end();
    await settle();
    clock.advance(3);
    await begun(3);
  },
);

void t.test('after a stop nothing is begun that is given', async (t) => {
  const { queue, clock, attempts, loop } = startLoop(t);
  await settle();
  await loop.stop(NEVER);
  queue.put(1, 'a', clock.now());
  loop.accept(queue.give(1));
  await settle();
  t.equal(attempts.length, 0);
  t.equal(loop.underWay, 0);
});

void t.test('endpoints that were paused are told', async (t) => {
  const { queue, clock, attempts, begun, pauses } = startLoop(t);
  queue.put(1, 'a', clock.now());
  queue.call();
  await begun(1);
  queue.paused = ['a'];
  attempts[0]?.end({ succeeded: false });
  await until('it is told', () => pauses.length === 1);
  t.strictSame(pauses, [['a']]);
});

void t.test('a stop claims no more, and waits for what is under way', async (t) => {
  const { queue, clock, attempts, begun, loop } = startLoop(t);
  queue.put(1, 'a', clock.now());
  queue.call();
  await begun(1);
  queue.put(2, 'a', clock.now());
  let hasStopped = false;
  const stopped = loop.stop(NEVER).then(() => (hasStopped = true));
  queue.call();
  loop.wake();
  await settle();
  t.equal(attempts.length, 1);
  t.notOk(hasStopped);
  attempts[0]?.end();
  await stopped;
  t.match(queue.groups, [[{ delivery: 1 }]]);
  t.equal(attempts.length, 1);
  await loop.stop(NEVER);
});

void t.test('what was claimed while the stop began is made, too', async (t) => {
  const { queue, clock, attempts, loop } = startLoop(t);
  await settle();
  queue.put(1, 'a', clock.now());
  const claim = queue.claimDeliveries.bind(queue);
  queue.claimDeliveries = async (request) => {
    const found = await claim(request);
    void loop.stop(NEVER);
    await settle();
    return found;
  };
  queue.call();
  await until('it is made', () => attempts.length === 1);
  attempts[0]?.end();
  await loop.stop(NEVER);
  t.match(queue.groups, [[{ delivery: 1 }]]);
});

void t.test('at the deadline the rest is broken off, and what came is recorded', async (t) => {
  const { queue, clock, attempts, begun, loop } = startLoop(t);
  for (const delivery of [1, 2]) queue.put(delivery, 'a', clock.now());
  queue.call();
  await begun(2);
  const deadline = new AbortController();
  const stopped = loop.stop(deadline.signal);
  attempts[0]?.end();
  await settle();
  t.equal(queue.groups.length, 0, 'it waits for others');
  deadline.abort();
  await stopped;
  t.match(queue.groups, [[{ delivery: 1 }]]);
  t.equal(attempts[1]?.signal.aborted, true);
  t.equal(loop.underWay, 0);
});

void t.test('at the deadline a store that fails is not waited for', async (t) => {
  const { queue, clock, attempts, begun, loop, logger } = startLoop(t);
  queue.put(1, 'a', clock.now());
  queue.call();
  await begun(1);
  queue.faults.finish.push(new Error('gone'), new Error('gone'), new Error('gone'));
  attempts[0]?.end();
  await settle();
  await loop.stop(AbortSignal.abort());
  t.equal(queue.groups.length, 0);
  t.match(logger.lines.join('\n'), /gone/);
});

void t.test('old deliveries are removed every hour, and figures are read', async (t) => {
  const queue = new MemoryDeliveryQueue();
  const clock = new HandClock();
  const logger = new RecordingLogger();
  const started = clock.now();
  queue.figures = { pending: 3, overdueMs: 10 };
  let calls = 0;
  const onPending = (): void => {
    calls++;
  };
  const upkeep = new Upkeep({ store: queue, retentionMs: 5000, clock, logger, onPending });
  await settle();
  t.strictSame(upkeep.figures, { pending: 3, overdueMs: 10 });
  t.strictSame(queue.removals, [started - 5_000_000]);
  t.equal(calls, 1, 'it says that something is to be sent');
  queue.figures = { pending: 0, overdueMs: 0 };
  clock.advance(15_000);
  await settle();
  t.strictSame(upkeep.figures, { pending: 0, overdueMs: 0 });
  t.equal(calls, 1);
  queue.faults.upkeep.push(new Error('gone'));
  clock.advance(3_600_000);
  await settle();
  t.match(logger.lines.join('\n'), /warn .* gone|warn .*err=gone/);
  clock.advance(3_600_000);
  await settle();
  t.equal(queue.removals.length, 2);
  upkeep.end();
  clock.advance(36_000_000);
  await settle();
  t.equal(queue.removals.length, 2);
});
