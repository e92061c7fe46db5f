import t from 'tap';
import { ConsumeError } from '../../../src/component/consume-error.js';
import { rateLimitProcessor } from '../../../src/processors/rate-limit/factory.js';
import { metricValues } from '../../support/engine.js';
import { aLog } from '../../support/log-records.js';
import { processorOf } from '../../support/processors.js';
import { readProjectFile } from '../../support/project-file.js';
import { aTrace } from '../../support/run-records.js';

const REFUSED = 'jackdaw_rate_limit_refused_items_total{processor="rate_limit",signal="logs"}';

function logs(count: number) {
  return Array.from({ length: count }, () => aLog());
}

/** Whether a batch is accepted, or the milliseconds until it may be retried. */
async function outcome(attempt: Promise<unknown>): Promise<'taken' | number | undefined> {
  try {
    await attempt;
    return 'taken';
  } catch (error) {
    if (!(error instanceof ConsumeError) || error.code !== 'rate_limited' || !error.retryable) throw error;
    return error.retryAfterMs;
  }
}

void t.test('allows a rate of items per second and a burst', async (t) => {
  const { processor, settings } = processorOf(
    rateLimitProcessor,
    'logs',
    '{ items_per_second: 10, burst: 30 }',
  );
  const send = async (count: number, tenant = 'a') =>
    outcome(processor.consume({ tenant, items: logs(count) }, { receivedAt: settings.clock.now() }));
  t.equal(await send(30), 'taken');
  t.equal(await send(1), 100);
  t.equal(await send(30, 'b'), 'taken', 'another user has a separate limit');
  settings.clock.advance(100);
  t.equal(await send(1), 'taken');
  t.equal(await send(5), 500);
  settings.clock.advance(3000);
  t.equal(await send(100), 'taken', 'a batch larger than the burst');
  t.equal(await send(1), 7100, 'is paid for later');
  t.strictSame(await metricValues(settings.meter, REFUSED), { [REFUSED]: 7 });
});

void t.test('limits by key, by user without a key, or globally', async (t) => {
  for (const [per, takenOf] of [
    ['user', ['taken', 1000, 1000, 'taken']],
    ['key', ['taken', 1000, 'taken', 'taken']],
    ['global', ['taken', 1000, 1000, 1000]],
  ] as const) {
    const { processor } = processorOf(
      rateLimitProcessor,
      'logs',
      `{ items_per_second: 1, burst: 1, per: ${per} }`,
    );
    const results = [];
    for (const [tenant, keyId] of [
      ['a', 'k1'],
      ['a', 'k1'],
      ['a', 'k2'],
      ['b', null],
    ] as const)
      results.push(await outcome(processor.consume({ tenant, items: logs(1) }, { receivedAt: 0, keyId })));
    t.strictSame(results, takenOf, per);
  }
});

void t.test('counts spans, and traces without spans', async (t) => {
  const { consume } = processorOf(rateLimitProcessor, 'traces', '{ items_per_second: 1, burst: 6 }');
  t.equal(await outcome(consume([aTrace(3), aTrace(0)])), 'taken');
  t.equal(await outcome(consume([aTrace(3)])), 1000);
  t.equal(await outcome(consume([aTrace(2)])), 'taken');
});

void t.test('returns the tokens of a failed batch', async (t) => {
  let fails = true;
  const { consume } = processorOf(
    rateLimitProcessor,
    'logs',
    '{ items_per_second: 1, burst: 2 }',
    async () => {
      if (fails) throw new Error('not now');
      return Promise.resolve({ accepted: 2, refused: [] });
    },
  );
  await t.rejects(consume(logs(2)), /not now/);
  fails = false;
  t.equal(await outcome(consume(logs(2))), 'taken');
});

void t.test('further owners share a limit until others are idle', async (t) => {
  const { processor, settings } = processorOf(
    rateLimitProcessor,
    'logs',
    '{ items_per_second: 1, burst: 1, max_owners: 2 }',
  );
  const send = async (tenant: string) =>
    outcome(processor.consume({ tenant, items: logs(1) }, { receivedAt: 0 }));
  t.strictSame(
    [await send('a'), await send('b'), await send('c'), await send('d')],
    ['taken', 'taken', 'taken', 1000],
  );
  settings.clock.advance(1000);
  t.strictSame([await send('d'), await send('e'), await send('f')], ['taken', 'taken', 'taken']);
});

void t.test('the documented example works', async (t) => {
  const text =
    /rate_limit:\n(.*?)\nservice:/s.exec(readProjectFile('src/processors/rate-limit/README.md'))?.[1] ?? '';
  const { consume } = processorOf(rateLimitProcessor, 'logs', text);
  t.equal(await outcome(consume(logs(20_000), { keyId: 'k' })), 'taken');
  t.equal(await outcome(consume(logs(1000), { keyId: 'k' })), 200);
});
