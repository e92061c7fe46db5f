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

void t.test('the other side’s Retry-After is honoured', async (t) => {
  const { exporter, clock, send } = startDelivery(AT_ONCE);
  await send('a', 1);
  exporter.last.fail(overloaded(90_000));
  await settled();
  clock.advance(89_999);
  await settled();
  t.equal(exporter.attempts.length, 1);
  clock.advance(1);
  await settled();
  t.equal(exporter.attempts.length, 2);
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
    /^warn Dropped a batch: it would never be accepted .*answered 400: bad spans items=2/,
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
  t.match(logger.lines.at(-1), /could not be delivered for too long a time .*reason="retries_exhausted"/);
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
  t.match(logger.lines[0], /the next attempt comes in 1 s .*busy/);
});
