import t from 'tap';
import { ConsumeError } from '../../src/component/consume-error.js';
import type { Receipt } from '../../src/component/consumer.js';
import { HandClock } from '../support/hand-clock.js';
import { batchOf, metricValues, startEngine } from '../support/engine.js';
import { EngineComponents } from '../support/engine-components.js';
import { settled } from '../support/scripted-exporter.js';

const config = (
  exporters: string,
  queue = '{ max_items: 2, batch: { max_wait: 0s } }',
) => `receivers: { source: {} }
exporters:
  sink: {}
  queue: { queue: ${queue} }
  queue/b: { queue: { batch: { max_wait: 0s } } }
service:
  shutdown_timeout: 10s
  pipelines:
    traces: { receivers: [source], exporters: ${exporters} }
`;

const taken: Receipt = { accepted: 1, refused: [] };
/** An exporter that responds only on request. */
function stuck(): { readonly consume: () => Promise<Receipt>; readonly finish: () => void } {
  let finish = (): void => undefined;
  const answer = new Promise<Receipt>((resolve) => {
    finish = () => {
      resolve(taken);
    };
  });
  return { consume: async () => answer, finish };
}
const lost = new ConsumeError('the other side is away', { code: 'overloaded', retryable: true });

void t.test('a queued exporter next to a direct one cannot delay or fail the sender', async (t) => {
  const clock = new HandClock();
  const held = stuck();
  const components = new EngineComponents({ queue: { consume: held.consume } });
  const { daemon, meter, logger } = await startEngine(t, {
    config: config('[sink, queue]'),
    factories: components.factories,
    clock,
  });
  t.teardown(held.finish);
  for (const id of ['1', '2', '3', '4']) t.strictSame(await components.send('source', batchOf(id)), taken);
  t.equal(components.batches.get('sink')?.length, 4);
  t.equal(components.batches.get('queue')?.length, 2, 'the queued items are pending');
  const dropped = await metricValues(meter, 'jackdaw_exporter_dropped_items_total{exporter="queue"');
  t.equal(
    dropped['jackdaw_exporter_dropped_items_total{exporter="queue",signal="traces",reason="queue_full"}'],
    2,
  );
  t.equal(
    logger.lines.filter((line) => line.includes('Dropped a batch because the queue is full')).length,
    1,
    'logged once',
  );
  const failed = await metricValues(meter, 'jackdaw_exporter_failed_items_total{exporter="queue"');
  t.strictSame(Object.values(failed), [2], 'the edge counts what did not fit');
  clock.advance(5000);
  const { isReady, components: states } = daemon.health();
  t.equal(isReady, true, 'keeps accepting');
  t.match(
    states.find(({ id }) => id === 'queue'),
    { state: 'degraded', message: /is full: new batches are dropped/ },
  );
});

void t.test('the response is that of the direct exporter', async (t) => {
  const components = new EngineComponents({
    sink: {
      consume: async () => Promise.reject(new ConsumeError('no', { code: 'overloaded', retryable: true })),
    },
  });
  await startEngine(t, { config: config('[sink, queue]'), factories: components.factories });
  await t.rejects(components.send('source', batchOf('1')), { code: 'overloaded' });
});

void t.test('without a direct exporter a full queue refuses', async (t) => {
  const held = stuck();
  const components = new EngineComponents({ queue: { consume: held.consume } });
  const clock = new HandClock();
  const { daemon, meter } = await startEngine(t, {
    config: config('[queue]'),
    factories: components.factories,
    clock,
  });
  t.teardown(held.finish);
  await components.send('source', batchOf('1', '2'));
  await t.rejects(components.send('source', batchOf('3')), {
    code: 'overloaded',
    retryable: true,
    retryAfterMs: 1000,
    message: /queue of exporter "queue" is full/,
  });
  const refused = await metricValues(meter, 'jackdaw_exporter_queue_refused_items_total');
  t.strictSame(Object.values(refused), [1]);
  t.equal(daemon.health().isReady, true);
  clock.advance(5000);
  t.equal(daemon.health().isReady, false, 'traffic moves elsewhere after a while');
  held.finish();
  await settled();
  t.equal(daemon.health().isReady, true);
});

void t.test('a batch goes to all queued exporters or to none', async (t) => {
  const held = stuck();
  const components = new EngineComponents({ queue: { consume: held.consume } });
  await startEngine(t, { config: config('[queue/b, queue]'), factories: components.factories });
  t.teardown(held.finish);
  await components.send('source', batchOf('1', '2'));
  await t.rejects(components.send('source', batchOf('3')), { code: 'overloaded' });
  await settled();
  t.equal(components.batches.get('queue/b')?.length, 1);
});

void t.test('a stop delivers queued batches until its deadline', async (t) => {
  const clock = new HandClock();
  const components = new EngineComponents();
  const waiting = '{ batch: { max_wait: 1h } }';
  const first = await startEngine(t, {
    config: config('[sink, queue]', waiting),
    factories: components.factories,
    clock,
  });
  await components.send('source', batchOf('1'));
  await components.send('source', batchOf('2'));
  t.notOk(components.events.includes('consume queue'));
  t.strictSame((await first.daemon.shutdown()).errors, []);
  t.strictSame(components.batches.get('queue')?.[0]?.items.length, 2);
  t.ok(components.events.indexOf('stop queue') > components.events.indexOf('consume queue'));

  const hopeless = new EngineComponents({ queue: { consume: async () => Promise.reject(lost) } });
  const second = await startEngine(t, {
    config: config('[sink, queue]', waiting),
    factories: hopeless.factories,
    clock,
  });
  await hopeless.send('source', batchOf('1'));
  const stopping = second.daemon.shutdown();
  for (let seconds = 0; seconds < 10; seconds++) {
    await settled();
    clock.advance(1000);
  }
  t.strictSame((await stopping).errors, []);
  t.ok(hopeless.events.filter((event) => event === 'consume queue').length > 2, 'tried until the end');
  t.ok(hopeless.events.includes('stop queue'));
  t.match(
    second.logger.lines.join('\n'),
    /error Dropped batches that could not be delivered before .*items=1/,
  );
});

void t.test('a queued batch is shared, and a changing processor gets a copy', async (t) => {
  const components = new EngineComponents({
    mutate: {
      consume: async (batch, next) => {
        for (const { trace } of batch.items) trace.agent = 'changed';
        return (await next?.consume(batch, { receivedAt: 0 })) ?? taken;
      },
    },
  });
  const clock = new HandClock();
  await startEngine(t, {
    clock,
    factories: components.factories,
    config: `receivers: { source: {} }
processors: { mutate: {} }
exporters: { queue: {}, sink: {} }
service:
  pipelines:
    traces: { receivers: [source], exporters: [queue] }
    traces/changed: { receivers: [source], processors: [mutate], exporters: [sink] }
`,
  });
  await components.send('source', batchOf('1'));
  clock.advance(200);
  t.equal(components.batches.get('queue')?.[0]?.items[0]?.trace.agent, 'a');
  t.equal(components.batches.get('sink')?.[0]?.items[0]?.trace.agent, 'changed');
});
