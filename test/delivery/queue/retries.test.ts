import t from 'tap';
import { ConsumeError } from '../../../src/component/consume-error.js';
import { backoffMs } from '../../../src/delivery/backoff.js';
import { settled } from '../../support/scripted-exporter.js';
import { startDelivery } from '../../support/test-delivery.js';

const AT_ONCE = 'queue: { batch: { max_wait: 0s } }';
const overloaded = (retryAfterMs?: number) =>
  new ConsumeError('busy', {
    code: 'overloaded',
    retryable: true,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  });

void t.test('waits grow to their maximum, vary, and are never shorter than asked for', async (t) => {
  const options = {
    isEnabled: true,
    initialMs: 1000,
    maxMs: 30_000,
    multiplier: 2,
    jitter: 0.5,
    maxElapsedMs: 0,
  };
  t.strictSame(
    [1, 2, 3, 4, 5, 6, 7, 5000].map((failures) => backoffMs(options, failures, 0, 0.5)),
    [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000],
  );
  t.equal(backoffMs(options, 1, 0, 0), 500);
  t.equal(backoffMs(options, 1, 0, 0.999_999), 1500);
  t.equal(backoffMs(options, 1, 7000, 0.5), 7000);
  t.equal(backoffMs(options, 4, 7000, 0.5), 8000);
});

void t.test('the same batch is sent again after each wait, until it is taken', async (t) => {
  const { exporter, clock, send, metric } = startDelivery(
    `retry: { initial_interval: 1s, multiplier: 2, max_interval: 3s }\n${AT_ONCE}`,
  );
  await send('a', 1);
  for (const wait of [1000, 2000, 3000, 3000]) {
    const before = exporter.attempts.length;
    // Whatever an exporter throws may be tried again, unless it says otherwise.
    exporter.last.fail(wait === 1000 ? new TypeError('x is undefined') : overloaded());
    await settled();
    clock.advance(wait - 1);
    t.equal(exporter.attempts.length, before);
    clock.advance(1);
    await settled();
    t.equal(exporter.attempts.length, before + 1);
    t.same(exporter.last.batch, exporter.attempts[0]?.batch);
  }
  exporter.last.succeed();
  await settled();
  t.equal(await metric('retries_total'), 4);
  t.equal(await metric('attempts_failed_total'), 4);
  t.equal(await metric('sent_items_total'), 1);
  t.equal(await metric('queue_items'), 0);
  t.equal(await metric('queue_bytes'), 0);
});

void t.test('the other side’s Retry-After counts up to max_interval, and 5 minutes at most', async (t) => {
  for (const [maxInterval, askedMs, waitMs] of [
    ['2m', 90_000, 90_000],
    ['30s', 90_000, 30_000],
    ['1h', 162_172_000, 300_000],
  ] as const) {
    const { exporter, clock, send } = startDelivery(`retry: { max_interval: ${maxInterval} }\n${AT_ONCE}`);
    await send('a', 1);
    exporter.last.fail(overloaded(askedMs));
    await settled();
    clock.advance(waitMs - 1);
    await settled();
    t.equal(exporter.attempts.length, 1, maxInterval);
    clock.advance(1);
    await settled();
    t.equal(exporter.attempts.length, 2, maxInterval);
  }
});

void t.test('what can never be taken is dropped at once, counted and said', async (t) => {
  const { exporter, send, metric, dropped, logger } = startDelivery(AT_ONCE);
  await send('a', 1, 2);
  exporter.last.fail(
    new ConsumeError('answered 400: bad spans', { code: 'validation_failed', retryable: false }),
  );
  await settled();
  t.equal(exporter.attempts.length, 1);
  t.equal(await dropped('permanent'), 2);
  t.equal(await metric('retries_total'), 0);
  t.equal(await metric('queue_items'), 0);
  t.match(logger.lines, [
    /^warn Dropped a batch: it is larger than the queue .*error="answered 400: bad spans" items=2/,
  ]);
});

void t.test('a batch that cannot be delivered for too long is dropped', async (t) => {
  const { exporter, clock, send, dropped, logger } = startDelivery(
    `retry: { initial_interval: 1s, multiplier: 1, max_elapsed_time: 3s }\n${AT_ONCE}`,
  );
  await send('a', 1);
  for (let attempt = 1; attempt <= 4; attempt++) {
    t.equal(exporter.attempts.length, attempt);
    exporter.last.fail(overloaded());
    await settled();
    clock.advance(1000);
    await settled();
  }
  t.equal(exporter.attempts.length, 4);
  t.equal(await dropped('retries_exhausted'), 1);
  t.match(logger.lines.at(-1), /not delivered within retry\.max_elapsed_time .*reason="retries_exhausted"/);
});

void t.test('without retry the first failure drops', async (t) => {
  const { exporter, send, dropped } = startDelivery(`retry: { enabled: false }\n${AT_ONCE}`);
  await send('a', 1);
  exporter.last.fail(overloaded());
  await settled();
  t.equal(await dropped('retries_exhausted'), 1);
});

void t.test('an attempt that takes too long is broken off and made again', async (t) => {
  const { exporter, clock, send, metric } = startDelivery(`timeout: 5s\n${AT_ONCE}`);
  await send('a', 1);
  const [first] = exporter.attempts;
  clock.advance(4999);
  t.equal(first?.context.abort?.aborted, false);
  clock.advance(1);
  t.equal(first?.context.abort?.aborted, true);
  await settled();
  clock.advance(1000);
  await settled();
  t.equal(exporter.attempts.length, 2);
  // The first answers after all: nobody listens any more.
  first?.fail(new Error('late'));
  exporter.last.succeed();
  await settled();
  t.equal(await metric('sent_items_total'), 1);
  t.equal(await metric('attempts_failed_total'), 1);
});

void t.test('failures are said at most once in ten seconds', async (t) => {
  const { exporter, clock, send, logger } = startDelivery(
    `retry: { initial_interval: 1s, multiplier: 1 }\n${AT_ONCE}`,
  );
  await send('a', 1);
  for (let attempt = 0; attempt < 25; attempt++) {
    exporter.last.fail(overloaded());
    await settled();
    clock.advance(1000);
    await settled();
  }
  t.equal(logger.lines.length, 3);
  t.match(logger.lines, [/times=1$/, /times=10$/, /times=10$/]);
  t.match(logger.lines[0], /retrying in 1 s .*error="busy"/);
  t.notMatch(logger.lines[0], /items=0|stack|overloaded/);
});

void t.test('nothing delivered for a minute is a stall until something is delivered', async (t) => {
  const { exporter, clock, send, logger, stalls, metric } = startDelivery(
    `retry: { initial_interval: 10s, multiplier: 1 }\n${AT_ONCE}`,
  );
  await send('a', 1);
  for (let attempt = 0; attempt < 20; attempt++) {
    exporter.last.fail(overloaded());
    await settled();
    t.strictSame(stalls, attempt < 6 ? [] : ['busy'], String(attempt));
    clock.advance(10_000);
    await settled();
  }
  t.equal(await metric('stalled'), 1);
  t.equal(logger.lines.length, 6, 'while it stalls, attempts are not logged');
  exporter.last.fail(
    new ConsumeError('no key', { code: 'overloaded', retryable: true, needsOperator: true }),
  );
  await settled();
  t.strictSame(stalls, ['busy', 'no key'], 'another reason');
  clock.advance(10_000);
  await settled();
  exporter.last.succeed();
  await settled();
  t.strictSame(stalls, ['busy', 'no key', null]);
  t.equal(await metric('stalled'), 0);
  clock.advance(600_000);
  await settled();
  t.equal(stalls.length, 3, 'with nothing to deliver there is no stall');

  await send('a', 2);
  exporter.last.fail(
    new ConsumeError('no key', { code: 'overloaded', retryable: true, needsOperator: true }),
  );
  await settled();
  t.strictSame(stalls.slice(3), ['no key'], 'what only an operator can change is reported at once');
});

void t.test('an exporter that hangs, and one that refuses everything, stall as well', async (t) => {
  const hanging = startDelivery(`timeout: 5m\n${AT_ONCE}`);
  await hanging.send('a', 1);
  hanging.clock.advance(60_000);
  t.strictSame(hanging.stalls, ['no answer yet']);

  const refusing = startDelivery(AT_ONCE);
  for (let batch = 0; batch < 4; batch++) {
    t.strictSame(refusing.stalls, []);
    await refusing.send('a', batch);
    refusing.exporter.last.fail(new ConsumeError('bad', { code: 'validation_failed', retryable: false }));
    await settled();
    refusing.clock.advance(20_000);
  }
  await refusing.send('a', 9);
  refusing.exporter.last.fail(new ConsumeError('bad', { code: 'validation_failed', retryable: false }));
  await settled();
  t.strictSame(refusing.stalls, ['bad']);
});

void t.test('time without anything to deliver is no part of a stall', async (t) => {
  const { exporter, clock, send, stalls } = startDelivery(AT_ONCE);
  await send('a', 1);
  exporter.last.fail(new ConsumeError('bad', { code: 'validation_failed', retryable: false }));
  await settled();
  clock.advance(3_600_000);
  await send('a', 2);
  exporter.last.fail(overloaded());
  await settled();
  t.strictSame(stalls, []);
});
