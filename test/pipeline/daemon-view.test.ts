import t from 'tap';
import { ConsumeError } from '../../src/component/consume-error.js';
import type { DaemonView, EdgeStats } from '../../src/component/daemon-view.js';
import type { EdgeEnd } from '../../src/component/edge-listener.js';
import { RecentDurations } from '../../src/pipeline/edges.js';
import { itemCount } from '../../src/signal/amount.js';
import { StillClock } from '../../src/telemetry/still-clock.js';
import { batchOf, startEngine } from '../support/engine.js';
import { EngineComponents } from '../support/engine-components.js';

const CONFIG = `receivers: { source: {}, source/b: {} }
processors: { pass: {}, mutate: {} }
exporters: { sink: {}, queue: { queue: { batch: { max_wait: 1h } } } }
service:
  pipelines:
    traces: { receivers: [source, source/b], processors: [pass, mutate], exporters: [sink, queue] }
    traces/plain: { receivers: [source, source/b], exporters: [sink] }
`;

function viewOf(components: EngineComponents): DaemonView {
  const view = components.hosts.get('sink')?.daemon;
  if (!view) throw new Error('sink has not started');
  return view;
}

function line({ pipeline, from, to, offered, accepted, refused, failed, queue }: EdgeStats): string {
  const counts = [offered, accepted, refused, failed].join(' ');
  return `${pipeline}: ${from.id} → ${to.id}: ${counts}${queue ? ` queue ${queue.items}` : ''}`;
}

void t.test('every edge of every pipeline has its own statistics', async (t) => {
  let isFailing = false;
  const components = new EngineComponents({
    pass: {
      consume: async (batch, next) => {
        const receipt = await next?.consume({ ...batch, items: batch.items.slice(1) }, { receivedAt: 0 });
        return { accepted: receipt?.accepted ?? 0, refused: [{ index: 0, reason: 'the first one' }] };
      },
    },
    sink: {
      consume: async (batch) => {
        if (isFailing) throw new ConsumeError('full', { code: 'overloaded', retryable: true });
        return { accepted: batch.items.length, refused: [] };
      },
    },
  });
  await startEngine(t, { config: CONFIG, factories: components.factories });
  const view = viewOf(components);
  t.strictSame(view.pipelines, [
    {
      name: 'traces',
      signal: 'traces',
      receivers: ['source', 'source/b'],
      threadedReceivers: [],
      processors: ['pass', 'mutate'],
      exporters: ['sink', 'queue'],
    },
    {
      name: 'traces/plain',
      signal: 'traces',
      receivers: ['source', 'source/b'],
      threadedReceivers: [],
      processors: [],
      exporters: ['sink'],
    },
  ]);
  t.ok(view.edges().every(({ offered, p99Ms }) => offered === 0 && p99Ms === null));
  await components.send('source', batchOf('1', '2', '3'));
  await components.send('source/b', batchOf('4', '5'));
  isFailing = true;
  await t.rejects(components.send('source/b', batchOf('6', '7')));
  t.strictSame(view.edges().map(line), [
    'traces: source → pass: 3 2 1 0',
    'traces: source/b → pass: 4 1 1 2',
    'traces: pass → mutate: 4 3 0 1',
    'traces: mutate → sink: 4 3 0 1',
    'traces: mutate → queue: 4 4 0 0 queue 4',
    'traces/plain: source → sink: 3 3 0 0',
    'traces/plain: source/b → sink: 4 2 0 2',
  ]);
  t.ok(view.edges().every(({ p99Ms }) => p99Ms !== null && p99Ms > 0));
  t.match(view.edges()[4]?.queue, { items: 4, maxItems: 100_000, maxBytes: 64 * 2 ** 20 });
  t.match(view.formatConfig(), /traces\/plain:/);
});

void t.test('edge listeners see batches before they pass and their results', async (t) => {
  const components = new EngineComponents({
    pass: {
      consume: async (batch, next) => {
        const receipt = await next?.consume({ ...batch, items: batch.items.splice(1) }, { receivedAt: 0 });
        return { accepted: receipt?.accepted ?? 0, refused: [{ index: 0, reason: 'the first one' }] };
      },
    },
    sink: {
      consume: async (batch) => {
        if (batch.items.length > 1) throw new ConsumeError('full', { code: 'overloaded', retryable: true });
        return { accepted: batch.items.length, refused: [] };
      },
    },
  });
  await startEngine(t, { config: CONFIG, factories: components.factories });
  const view = viewOf(components);
  const observed: string[] = [];
  const listenTo = (from: EdgeEnd, to: EdgeEnd, pipeline = 'traces') =>
    view.listen(
      { pipeline, from, to },
      {
        offer: (batch, signal) => {
          const seen = `${signal} ${from.id} → ${to.id}: ${itemCount(batch)}`;
          return ({ refused, error }) => {
            const outcome = error instanceof ConsumeError ? error.code : JSON.stringify([...refused]);
            observed.push(`${seen} ${outcome}`);
          };
        },
      },
    );
  const source: EdgeEnd = { kind: 'receiver', id: 'source' };
  const pass: EdgeEnd = { kind: 'processor', id: 'pass' };
  t.equal(listenTo(pass, source), null, 'no such edge');
  t.equal(listenTo(source, pass, 'traces/plain'), null);
  const leave = listenTo(source, pass);
  listenTo({ kind: 'processor', id: 'mutate' }, { kind: 'exporter', id: 'sink' });
  await t.rejects(components.send('source', batchOf('1', '2')), 'one of both pipelines fails');
  await t.rejects(components.send('source', batchOf('1', '2', '3')));
  await components.send('source/b', batchOf('1'));
  leave?.();
  await components.send('source', batchOf('4'));
  t.strictSame(observed, [
    'traces mutate → sink: 1 []',
    'traces source → pass: 2 [[0,"the first one"]]',
    'traces mutate → sink: 2 overloaded',
    'traces source → pass: 3 overloaded',
    'traces mutate → sink: 0 []',
    'traces mutate → sink: 0 []',
  ]);
});

void t.test('recent durations are within a tenth, and old ones expire', async (t) => {
  const clock = new StillClock();
  const durations = new RecentDurations(clock);
  t.equal(durations.quantile(0.99), null);
  const near = (share: number, ms: number): void => {
    const found = durations.quantile(share) ?? 0;
    t.ok(found >= ms * 0.999 && found <= ms * 1.101, `${found} for ${ms}`);
  };
  for (const ms of [0.02, 0.5, 3, 47, 1000, 600_000]) {
    const alone = new RecentDurations(clock);
    alone.record(ms);
    const found = alone.quantile(0.99) ?? 0;
    t.ok(found >= ms * 0.999 && found <= ms * 1.101, `${found} for ${ms}`);
  }
  for (let i = 1; i <= 1000; i += 1) durations.record(i);
  near(0.99, 990);
  near(0.5, 500);
  clock.advance(60_000);
  durations.record(1);
  near(0.99, 990);
  clock.advance(60_000);
  near(0.99, 1);
  clock.advance(60_000);
  t.equal(durations.quantile(0.99), null, 'nothing for two minutes');
  durations.record(5);
  clock.advance(3_600_000);
  t.equal(durations.quantile(0.99), null);
});
