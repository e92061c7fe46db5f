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

void t.test('delays grow to their maximum, vary and are never shorter than requested', async (t) => {
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

void t.test('resends the same batch after each delay until accepted', async (t) => {
  const { exporter, clock, send, metric } = startDelivery(
    `retry: { initial_interval: 1s, multiplier: 2, max_interval: 3s }\n${AT_ONCE}`,
  );
  await send('a', 1);
  for (const wait of [1000, 2000, 3000, 3000]) {
    const before = exporter.attempts.length;
    // Any thrown error is retryable unless it says otherwise.
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

void t.test('Retry-After counts up to max_interval and 5 minutes at most', async (t) => {
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

void t.test('drops, counts and logs a permanently refused batch immediately', async (t) => {
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

void t.test('drops a batch that cannot be delivered within the time limit', async (t) => {
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

void t.test('drops on the first failure if retry is disabled', async (t) => {
  const { exporter, send, dropped } = startDelivery(`retry: { enabled: false }\n${AT_ONCE}`);
  await send('a', 1);
  exporter.last.fail(overloaded());
  await settled();
  t.equal(await dropped('retries_exhausted'), 1);
});

void t.test('aborts and retries an attempt that times out', async (t) => {
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
  // The first attempt responds late and is ignored.
  first?.fail(new Error('late'));
  exporter.last.succeed();
  await settled();
  t.equal(await metric('sent_items_total'), 1);
  t.equal(await metric('attempts_failed_total'), 1);
});

void t.test('logs failures at most once in ten seconds', async (t) => {
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
  t.equal(logger.lines.length, 6, 'attempts are not logged during a stall');
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
  t.equal(stalls.length, 3, 'no stall with nothing to deliver');

  await send('a', 2);
  exporter.last.fail(
    new ConsumeError('no key', { code: 'overloaded', retryable: true, needsOperator: true }),
  );
  await settled();
  t.strictSame(stalls.slice(3), ['no key'], 'an error only an operator can fix is reported immediately');
});

void t.test('hanging and refusing exporters also stall', async (t) => {
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

void t.test('time without anything to deliver does not count towards a stall', async (t) => {
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
