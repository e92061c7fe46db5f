import t from 'tap';
import { observeProcess } from '../../src/telemetry/process-metrics.js';
import { PrometheusMeter } from '../../src/telemetry/meter.js';
import { metricValues } from '../support/engine.js';

void t.test('prints counters, histograms and gauges with prefix, help and type', async (t) => {
  const meter = new PrometheusMeter();
  meter.counter('taken_total', { description: 'Taken.', labelNames: ['by'] }).add(2, { by: 'a' });
  meter.counter('taken_total', { description: 'Taken.', labelNames: ['by'] }).add(3, { by: 'a' });
  meter.counter('plain_total', { description: 'Plain.' }).add(1);
  meter.histogram('wait_seconds', { description: 'Wait.', buckets: [0.1, 1] }).record(0.5);
  const { text } = await meter.print();
  t.match(text, /# HELP jackdaw_taken_total Taken\.\n# TYPE jackdaw_taken_total counter\n/);
  t.match(text, /jackdaw_taken_total\{by="a"\} 5\n/, 'the same metric for both calls');
  t.match(text, /jackdaw_plain_total 1\n/);
  t.match(text, /jackdaw_wait_seconds_bucket\{le="0\.1"\} 0\njackdaw_wait_seconds_bucket\{le="1"\} 1\n/);
});

void t.test('gauges are read on demand and can end', async (t) => {
  const meter = new PrometheusMeter();
  let value = 1;
  const options = { description: 'Queue.', labelNames: ['queue'] };
  const endA = meter.gauge('queue_items', options, () => value, { queue: 'a' });
  meter.gauge('queue_items', options, () => 10, { queue: 'b' });
  value = 7;
  t.strictSame(await metricValues(meter, 'jackdaw_queue_items'), {
    'jackdaw_queue_items{queue="a"}': 7,
    'jackdaw_queue_items{queue="b"}': 10,
  });
  endA();
  t.strictSame(await metricValues(meter, 'jackdaw_queue_items'), { 'jackdaw_queue_items{queue="b"}': 10 });
});

void t.test('one name has one type of metric', async (t) => {
  const meter = new PrometheusMeter();
  meter.counter('x_total', { description: 'X.' });
  t.throws(() => meter.histogram('x_total', { description: 'X.', buckets: [1] }), /exists as another kind/);
  t.throws(() => meter.gauge('x_total', { description: 'X.' }, () => 1), /exists as another kind/);
});

void t.test('one name has one set of labels', async (t) => {
  const meter = new PrometheusMeter();
  const options = { description: 'X.', labelNames: ['a', 'b'] };
  meter.counter('x_total', options).add(1, { a: '1', b: '2' });
  meter.counter('x_total', { ...options, labelNames: ['b', 'a'] }).add(1, { a: '1', b: '2' });
  t.throws(
    () => meter.counter('x_total', { ...options, labelNames: ['a'] }),
    /jackdaw_x_total exists with the labels "a, b" instead of "a": choose another name/,
  );
  t.strictSame(await metricValues(meter, 'jackdaw_x_total'), { 'jackdaw_x_total{a="1",b="2"}': 2 });
});

void t.test('meters are independent', async (t) => {
  const [one, two] = [new PrometheusMeter(), new PrometheusMeter()];
  one.counter('x_total', { description: 'X.' }).add(1);
  t.strictSame(await metricValues(two, 'jackdaw_x_total'), {});
});

void t.test('exports process metrics', async (t) => {
  const meter = new PrometheusMeter();
  const end = observeProcess(meter, '1.2.3');
  const values = await metricValues(meter, 'jackdaw_');
  t.equal(values[`jackdaw_build_info{version="1.2.3",node="${process.versions.node}"}`], 1);
  for (const name of [
    'process_memory_rss_bytes',
    'process_heap_used_bytes',
    'process_cpu_seconds_total',
    'process_heap_limit_bytes',
    'process_uptime_seconds',
  ])
    t.ok((values[`jackdaw_${name}`] ?? 0) > 0, name);
  const { text } = await meter.print();
  for (const name of [
    'process_resident_memory_bytes',
    'process_cpu_seconds_total',
    'process_open_fds',
    'nodejs_heap_size_used_bytes',
    'nodejs_eventloop_lag_seconds',
    'nodejs_gc_duration_seconds',
  ])
    t.match(text, `# TYPE ${name} `);
  t.ok((values['jackdaw_process_event_loop_lag_max_seconds'] ?? -1) >= 0);
  t.match((await meter.print()).text, '# TYPE jackdaw_process_cpu_seconds_total counter');
  end();
  t.strictSame(await metricValues(meter, 'jackdaw_process_uptime_seconds'), {});
});
