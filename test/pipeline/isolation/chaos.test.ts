import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import type { Behaviour } from '../../support/engine-components.js';
import { EngineComponents } from '../../support/engine-components.js';
import { batchOf, metricValues, startEngine } from '../../support/engine.js';
import { HandClock } from '../../support/hand-clock.js';
import { hungStarts, release, seen } from '../../support/chaos-plugin.js';
import { settled } from '../../support/scripted-exporter.js';
import { until } from '../../support/until.js';
import type { TracesBatch } from '../../../src/signal/batch.js';

const PLUGIN = fileURLToPath(new URL('../../support/chaos-plugin.js', import.meta.url));

/** Pipelines through the processor of the plugin, into its direct exporter, next to its queued exporter, and without the plugin. */
const CONFIG = `plugins: [${JSON.stringify(PLUGIN)}]
receivers: { source: {}, source/direct: {}, source/queued: {}, source/other: {} }
processors:
  chaos: { plugin_limits: { consume_timeout: 10s, max_in_flight: 3, max_block: 20ms } }
exporters:
  sink: {}
  sink/beside: {}
  sink/other: {}
  chaos: { plugin_limits: { max_in_flight: 3 } }
  chaos_queue:
    timeout: 5s
    retry: { max_elapsed_time: 20s }
    queue: { concurrency: 1, max_items: 4 }
    plugin_limits: { max_in_flight: 2 }
service:
  pipelines:
    traces: { receivers: [source], processors: [chaos], exporters: [sink] }
    traces/direct: { receivers: [source/direct], exporters: [chaos, sink/beside] }
    traces/queued: { receivers: [source/queued], exporters: [chaos_queue, sink/beside] }
    traces/other: { receivers: [source/other, source], exporters: [sink/other] }
`;

/** A batch that tells the plugin what to do. */
function chaosBatch(what: string, ...ids: readonly string[]): TracesBatch {
  const batch = batchOf(...ids);
  for (const { trace } of batch.items) trace.agent = what;
  return batch;
}

async function scene(t: Test, behaviours: Readonly<Record<string, Behaviour>> = {}, config = CONFIG) {
  const clock = new HandClock();
  const components = new EngineComponents(behaviours);
  const engine = await startEngine(t, { factories: components.factories, config, clock });
  const faults = async (kind = 'processor') => {
    const values = await metricValues(engine.meter, 'jackdaw_plugin_faults_total');
    return Object.fromEntries(
      Object.entries(values).flatMap(([series, value]) =>
        series.includes(`kind="${kind}"`) && value > 0
          ? [[/fault="(\w+)"/.exec(series)?.[1] ?? '', value] as const]
          : [],
      ),
    );
  };
  const state = (kind: string, id: string) =>
    engine.daemon.health().components.find((one) => one.kind === kind && one.id === id);
  return { ...engine, clock, components, faults, state };
}

/** The outcome of a batch. */
async function outcome(result: Promise<unknown>): Promise<unknown> {
  return result.catch((error: unknown) => error);
}

void t.test('any misbehaviour of a processor gets a correct response', async (t) => {
  const { components, faults, state, daemon, logger } = await scene(t);
  const internal = { name: 'ConsumeError', code: 'internal_error', retryable: true };
  const all = { accepted: 2, refused: [] };
  for (const [what, expected, fault] of [
    ['throws', internal, 'threw'],
    ['rejects', internal, 'threw'],
    ['rejects-text', internal, 'threw'],
    ['foreign-error', { name: 'ConsumeError', code: 'validation_failed', retryable: false }, undefined],
    ['no-receipt', internal, 'receipt'],
    ['no-numbers', internal, 'receipt'],
    ['refuses-nothing-there', all, 'receipt'],
    ['refuses-twice', { accepted: 1, refused: [{ index: 0, reason: 'no' }] }, 'receipt'],
    ['refuses-without-reason', all, 'receipt'],
    ['claims-too-much', all, 'receipt'],
    ['new-context', all, undefined],
    ['no-context', all, undefined],
    ['passes-nothing', internal, 'batch'],
    ['passes-junk', internal, 'batch'],
    ['blocks', all, 'blocked'],
    ['well', all, undefined],
  ] as const) {
    const before: Readonly<Record<string, number>> = await faults();
    t.match(await outcome(components.send('source', chaosBatch(what, 'a', 'b'))), expected, what);
    const after: Readonly<Record<string, number>> = await faults();
    const counted = Object.keys(after).filter((one) => after[one] !== before[one]);
    t.strictSame(counted, fault === undefined ? [] : [fault], `${what} is counted`);
    t.match(await components.send('source/other', batchOf('c')), { accepted: 1 }, 'the others continue');
  }
  t.match(state('processor', 'chaos'), { state: 'degraded', message: /it kept the thread busy/ });
  t.equal(daemon.health().isReady, true, 'a load balancer keeps the daemon in service');
  t.ok(logger.lines.some((line) => /Plugin "chaos", processor "chaos" threw an error/.test(line)));
});

void t.test('its changes are invisible to others', async (t) => {
  const { components } = await scene(t);
  const outcomes = (id: string) =>
    components.batches.get(id)?.flatMap(({ items }) => items.map(({ trace }) => trace.outcome));
  await components.send('source', chaosBatch('changes', 'a'));
  t.strictSame(
    [outcomes('sink'), outcomes('sink/other')],
    [['changed by chaos'], [null]],
    'another pipeline',
  );
  await components.send('source/direct', chaosBatch('changes', 'b'));
  t.strictSame(outcomes('sink/beside'), [null], 'the exporter next to it');
});

void t.test(
  'a hanging processor fails its batches in time, admits no more and affects no others',
  async (t) => {
    const { components, clock, faults, state, daemon } = await scene(t);
    seen.length = 0;
    const held = ['a', 'b', 'c'].map((id) => outcome(components.send('source', chaosBatch('hangs', id))));
    await settled();
    const full = { code: 'overloaded', retryable: true, retryAfterMs: 1000 };
    t.match(await outcome(components.send('source', chaosBatch('well', 'd'))), full, 'immediately');
    t.match(await components.send('source/other', batchOf('e')), { accepted: 1 });

    clock.advance(9_999);
    await settled();
    t.strictSame(await faults(), { full: 1 });
    clock.advance(1);
    t.match(await Promise.all(held), [full, full, full]);
    t.strictSame(await faults(), { full: 1, timeout: 3 });
    t.strictSame(
      seen.map(({ items }) => items.length),
      [0, 0, 0],
      'hanging calls release their items',
    );
    t.match(await outcome(components.send('source', chaosBatch('well', 'f'))), full, 'still held');
    t.match(state('processor', 'chaos'), { state: 'degraded', message: /3 calls into it never returned/ });
    t.equal(daemon.health().isReady, true);

    for (const id of ['a', 'b', 'c']) release(id);
    await settled();
    t.equal(components.batches.get('sink'), undefined, 'failed items are not passed on late');
    t.equal((await faults())['late'], 3);
    t.match(await components.send('source', chaosBatch('well', 'g')), { accepted: 1 }, 'room again');
    clock.advance(5 * 60_000);
    t.match(state('processor', 'chaos'), { state: 'ok' }, 'healthy again after a quiet period');
  },
);

void t.test('downstream time does not count for the plugin', async (t) => {
  const releases: (() => void)[] = [];
  const { components, clock, faults } = await scene(t, {
    sink: {
      consume: async ({ items }) => {
        await new Promise<void>((resolve) => releases.push(resolve));
        return { accepted: items.length, refused: [] };
      },
    },
  });
  const waiting = ['well', 'new-context', 'well', 'new-context', 'hangs-behind'].map((what) =>
    outcome(components.send('source', chaosBatch(what, what))),
  );
  await settled();
  clock.advance(60_000);
  await settled();
  t.strictSame(
    await faults(),
    {},
    'more than max_in_flight batches wait downstream, longer than the timeout',
  );
  for (const go of releases) go();
  t.match(await Promise.all(waiting.slice(0, 4)), Array(4).fill({ accepted: 1, refused: [] }));
  clock.advance(10_000);
  t.match(await waiting[4], { code: 'overloaded' }, 'its own time resumes with the response');
  release('hangs-behind');
});

void t.test('a downstream error is not blamed on the plugin', async (t) => {
  const { components, faults } = await scene(t, {
    sink: { consume: async () => Promise.reject(new Error('disk gone')) },
  });
  t.match(await outcome(components.send('source', chaosBatch('well', 'a'))), { code: 'internal_error' });
  t.strictSame(await faults(), {});
});

void t.test(
  'a hanging direct exporter fails its batches, and other pipelines still store theirs',
  async (t) => {
    const { components, clock, faults } = await scene(t);
    const held = outcome(components.send('source/direct', chaosBatch('hangs', 'a')));
    await settled();
    clock.advance(30_000);
    t.match(await held, { code: 'overloaded' });
    t.strictSame(await faults('exporter'), { timeout: 1 });
    t.match(await outcome(components.send('source/direct', chaosBatch('throws', 'b'))), {
      code: 'internal_error',
    });
    t.match(await components.send('source/direct', chaosBatch('well', 'c')), { accepted: 1 });
    release('a');
  },
);

void t.test('a hanging queued exporter is retried within limits and delays no others', async (t) => {
  const { components, clock, faults, meter } = await scene(t);
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f'])
    t.match(await components.send('source/queued', chaosBatch('hangs', id)), { accepted: 1 });
  t.equal(components.batches.get('sink/beside')?.length, 6, 'all stored');
  for (let second = 0; second < 120; second++) {
    clock.advance(1000);
    await settled();
  }
  const values = await metricValues(meter, 'jackdaw_exporter_dropped_items_total');
  const dropped = Object.values(values).reduce((sum, value) => sum + value, 0);
  t.equal(dropped, 6, 'dropped by the rules of its queue');
  const { timeout = 0, full = 0 } = (await faults('exporter')) as { timeout?: number; full?: number };
  t.equal(timeout, 2, 'a limited number hang in it');
  t.ok(full > 0, 'later attempts end immediately');
});

/** Advances the clock until something has settled. @returns its outcome */
async function passing(clock: HandClock, work: Promise<unknown>): Promise<unknown> {
  const state = { hasEnded: false };
  const ended = outcome(work).finally(() => (state.hasEnded = true));
  while (!state.hasEnded) {
    await settled();
    clock.advance(1000);
  }
  return ended;
}

void t.test('a hanging start is reported by name in time, and a stop does not wait for it', async (t) => {
  const { factories } = new EngineComponents();
  for (const [kind, written] of [
    ['processor', '{ plugin_limits: { consume_timeout: 10s, max_in_flight: 3, max_block: 20ms } }'],
    ['exporter', '{ plugin_limits: { max_in_flight: 3 } }'],
  ] as const) {
    const config = CONFIG.replace(written, '{ start: hangs, plugin_limits: { start_timeout: 7s } }');
    const clock = new HandClock();
    t.match(await passing(clock, startEngine(t, { factories, config, clock })), {
      message: new RegExp(`${kind} "chaos".* could not start: it did not start within 7000 ms`),
    });
  }

  const abort = new AbortController();
  const clock = new HandClock();
  const config = CONFIG.replace(
    '{ plugin_limits: { max_in_flight: 3 } }',
    '{ start: hangs, plugin_limits: { start_timeout: 1d } }',
  );
  const before = hungStarts;
  const starting = outcome(startEngine(t, { factories, config, clock, abort: abort.signal }));
  await until('the start hangs', () => hungStarts > before);
  abort.abort();
  t.match(await passing(clock, starting), { message: 'Stopped before the start was complete' });
});

void t.test('a plugin cannot stop the daemon, and an error of its check names it', async (t) => {
  const fatal = CONFIG.replace('max_block: 20ms } }', 'max_block: 20ms }, start: is-fatal }');
  const { daemon, state } = await scene(t, {}, fatal);
  t.equal(daemon.health().phase, 'running');
  t.match(state('processor', 'chaos'), { state: 'permanent', message: 'the end' });
  const broken = CONFIG.replace('max_block: 20ms } }', 'max_block: 20ms }, check: throws }');
  t.match(await outcome(scene(t, {}, broken)), {
    problems: [{ position: { line: 4 }, message: /plugin "chaos" failed its check: the check is broken/ }],
  });
});
