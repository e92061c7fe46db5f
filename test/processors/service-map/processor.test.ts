import { join } from 'node:path';
import t from 'tap';
import { ConsumeError } from '../../../src/component/consume-error.js';
import { serviceMapConfig } from '../../../src/processors/service-map/config.js';
import { createServiceMap } from '../../../src/processors/service-map/service-map.js';
import { invariant } from '../../../src/signal/checked.js';
import { deriveMap } from '../../../src/signal/derive-map.js';
import { fitsBatch } from '../../../src/signal/service-map.js';
import type { TraceRecord } from '../../../src/signal/trace.js';
import { aPlace } from '../../support/channel-place.js';
import { componentSettings } from '../../support/component-settings.js';
import { aHeader, aSpanRecord, aTrace } from '../../support/run-records.js';
import { sectionConfig } from '../../support/section-config.js';
import { testHost } from '../../support/test-host.js';
import { startMap } from './map-processor.js';
import { testFolder } from '../../support/test-folder.js';

const ODD = new URL('./odd-map-thread.js', import.meta.url);
const BROKEN = new URL('../../service-map/no-such-thread.js', import.meta.url);

/** A batch of one trace that misbehaves in the thread, or not. */
function aBatch(call = 'a call', spans = 3): TraceRecord[] {
  const { trace, spans: calls } = aTrace(spans);
  const root = aSpanRecord(trace.trace_id, { type: 'http', name: call });
  return [{ trace, spans: [root, ...calls] }];
}

void t.test('forwards a copy of the batch with its map', async (t) => {
  const { send, passed, metric } = await startMap(t);
  const trace = aHeader({ agent: 'planner' });
  const root = aSpanRecord(trace.trace_id, { type: 'agent', metadata: { 'agent.name': 'writer' } });
  const call = aSpanRecord(trace.trace_id, { parent_span_id: root.span_id });
  const items = [
    {
      trace,
      spans: [
        root,
        call,
        aSpanRecord(trace.trace_id, {
          parent_span_id: call.span_id,
          type: 'http',
          input_data: { url: 'https://API.example.com:443/v1' },
        }),
      ],
    },
  ];
  t.same(await send(items), { accepted: 1, refused: [] });
  t.equal(passed.length, 1);
  const { batch, map } = invariant(passed[0], 'what was passed on');
  t.same(batch, { tenant: 'tenant', items, service_map: batch.service_map });
  t.same(map?.names, ['writer', 'api.example.com']);
  t.same([...(map?.nodes ?? [])], [0, -1, 1]);
  t.same([...(map?.callers ?? [])], [-1, 0, 0]);
  t.same(map, deriveMap(items));
  t.ok(batch.service_map && fitsBatch(batch.service_map, items));
  t.equal(await metric('task_duration_seconds_count'), 2, 'one at the start');
});

void t.test('handles batches without spans or traces', async (t) => {
  const { send, passed } = await startMap(t);
  const batches = [[], aTraceWithoutSpans(), [...aTraceWithoutSpans(), ...aBatch()]];
  await Promise.all(batches.map(send));
  t.same(
    passed.map(({ map }) => map),
    batches.map(deriveMap),
  );
});

function aTraceWithoutSpans(): TraceRecord[] {
  return [aTrace(0)];
}

void t.test('sends queued batches together once they are large or the thread is free', async (t) => {
  const { send, passed, metric } = await startMap(t, '{}', ODD);
  const here = aPlace(t);
  const first = aBatch(`wait:${here.name}`);
  const much = [1, 2, 3000, 2000, 9000];
  const more = [1000, 500, 2500, 1000, 1];
  const batches = [first, ...[...much, ...more].map((size) => aBatch('one of many', size))];
  const answers = [send(first)];
  await here.reached;
  answers.push(...batches.slice(1).map(send));
  t.equal(await metric('queue_batches'), more.length, 'the thread has one large task and no more');
  here.goOn();
  await Promise.all(answers);
  // At the start; the first; [1, 2, 3000], [2000], [9000]; then [1000, 500, 2500], [1000, 1].
  t.equal(await metric('task_duration_seconds_count'), 7);
  t.equal(await metric('queue_batches'), 0);
  t.equal(passed.length, batches.length);
  t.same(new Set(passed.map(({ items }) => items)), new Set(batches), 'each once');
  for (const { items, map } of passed) t.same(map, deriveMap(items));
});

void t.test('small batches wait until the thread is free', async (t) => {
  const { send, metric } = await startMap(t, '{}', ODD);
  const here = aPlace(t);
  const first = send(aBatch(`wait:${here.name}`));
  await here.reached;
  const answers = [send(aBatch('a', 700)), send(aBatch('b', 700))];
  t.equal(await metric('queue_batches'), 2);
  answers.push(send(aBatch('c', 200)));
  t.equal(await metric('queue_batches'), 0, 'large together');
  here.goOn();
  for (const answer of [first, ...answers]) t.same(await answer, { accepted: 1, refused: [] });
  t.equal(await metric('task_duration_seconds_count'), 3);
});

void t.test('several threads work concurrently', async (t) => {
  const { send, passed } = await startMap(t, 'threads: 2', ODD);
  const here = aPlace(t);
  const waiting = send(aBatch(`wait:${here.name}`));
  await here.reached;
  await send(aBatch());
  t.equal(passed.length, 1);
  here.goOn();
  await waiting;
  t.equal(passed.length, 2);
});

void t.test('a crashed thread loses nothing: its batches are retried and forwarded once', async (t) => {
  const { send, passed, metric, logger } = await startMap(t, '{}', ODD);
  const here = aPlace(t);
  const first = send(aBatch(`wait:${here.name}`));
  await here.reached;
  const batches = [aBatch('a'), aBatch(`exit once:${join(testFolder(t), 'ended')}`), aBatch('b')];
  const answers = batches.map(send);
  here.goOn();
  for (const answer of await Promise.all([first, ...answers])) t.same(answer, { accepted: 1, refused: [] });
  t.same(
    passed.slice(1).map(({ items }) => items),
    batches,
  );
  for (const { items, map } of passed) t.same(map, deriveMap(items));
  t.equal(await metric('failed_tasks_total'), 1);
  t.match(logger.lines.join('\n'), /retrying each separately .*worker exited with code: 7.* batches=3/);
});

for (const [what, agent, reason] of [
  ['a batch that ends every thread', 'exit', /worker exited with code: 7/],
  ['a batch that a thread cannot derive', 'fault', /a fault of ours/],
  ['an answer that makes no sense', 'nonsense', /./],
] as const) {
  void t.test(`${what} is refused as retryable, and others in its task continue`, async (t) => {
    const { send, passed, metric, logger } = await startMap(t, '{}', ODD);
    const here = aPlace(t);
    const first = send(aBatch(`wait:${here.name}`));
    await here.reached;
    const answers = [aBatch('a'), aBatch(agent), aBatch('b')].map(send);
    here.goOn();
    await first;
    const [a, odd, b] = await Promise.all(answers);
    t.type(odd, ConsumeError);
    t.match(odd, { code: 'internal_error', retryable: true, cause: { message: reason } });
    t.same(
      [a, b],
      [
        { accepted: 1, refused: [] },
        { accepted: 1, refused: [] },
      ],
    );
    t.equal(passed.length, 3, 'not forwarded');
    t.equal(await metric('failed_tasks_total'), 2);
    t.match(logger.lines.join('\n'), /in two attempts/);
    t.same(await send(aBatch()), { accepted: 1, refused: [] }, 'the next one finds a thread');
  });
}

void t.test('a batch that crashes its thread does not fail other queued batches', async (t) => {
  const { send, passed, metric } = await startMap(t, '{}', ODD);
  const batches = [aBatch('exit', 2000), aBatch('a', 2000), aBatch('b', 2000), aBatch('c')];
  const [odd, ...others] = await Promise.all(batches.map(send));
  t.match(odd, { code: 'internal_error', cause: { message: /worker exited with code: 7/ } });
  for (const answer of others) t.same(answer, { accepted: 1, refused: [] });
  t.equal(passed.length, 3);
  // The three of the thread and the first again: they are retried one at a time.
  t.equal(await metric('failed_tasks_total'), 4);
});

void t.test('a batch that cannot be encoded does not fail others', async (t) => {
  const { send, passed } = await startMap(t);
  const trace = aHeader();
  const metadata = Object.defineProperty({}, 'peer.service', {
    get: () => {
      throw new Error('not to be read');
    },
  });
  const odd = [{ trace, spans: [aSpanRecord(trace.trace_id, { type: 'http', metadata })] }];
  const [before, answer, after] = await Promise.all([aBatch(), odd, aBatch()].map(send));
  t.match(answer, { code: 'internal_error', retryable: true, cause: { message: 'not to be read' } });
  t.same(
    [before, after],
    [
      { accepted: 1, refused: [] },
      { accepted: 1, refused: [] },
    ],
  );
  t.equal(passed.length, 2);
});

void t.test('with a full queue a batch waits for a slot and is finally refused', async (t) => {
  const { send, passed, clock, metric } = await startMap(t, 'max_queue: 2\nmax_wait: 5s', ODD);
  const here = aPlace(t);
  const first = send(aBatch(`wait:${here.name}`));
  await here.reached;
  const inLine = [send(aBatch()), send(aBatch())];
  const early = send(aBatch());
  clock.advance(3000);
  const late = send(aBatch());
  t.equal(await metric('queue_batches'), 4);
  clock.advance(1999);
  t.equal(await metric('refused_batches_total'), 0);
  clock.advance(1);
  t.match(await early, { code: 'overloaded', retryable: true, retryAfterMs: 1000 });
  t.equal(await metric('refused_batches_total'), 1);
  t.equal(await metric('queue_batches'), 3);
  t.equal(passed.length, 0);
  here.goOn();
  for (const answer of [first, ...inLine, late]) t.same(await answer, { accepted: 1, refused: [] });
  clock.advance(60_000);
  t.equal(passed.length, 4);
  t.equal(await metric('refused_batches_total'), 1, 'a batch with a slot is no longer refused');
});

void t.test('passes on downstream errors unchanged and does not count them', async (t) => {
  const settings = componentSettings('service_map');
  const error = new ConsumeError('full', { code: 'storage_unavailable', retryable: true });
  const next = { consume: () => Promise.reject(error) };
  const config = sectionConfig(serviceMapConfig, '{}');
  const processor = createServiceMap({ ...settings, config }, next);
  t.teardown(() => processor.shutdown?.(AbortSignal.abort()));
  await processor.start?.(testHost());
  const answer = processor.consume({ tenant: 'tenant', items: aBatch() }, { receivedAt: 0 });
  t.equal(await answer.catch((reason: unknown) => reason), error);
  t.same(settings.logger.lines, []);
});

void t.test('a stop finishes accepted batches', async (t) => {
  const { send, passed, stop, metric } = await startMap(t, 'max_queue: 1', ODD);
  const here = aPlace(t);
  const answers = [send(aBatch(`wait:${here.name}`))];
  await here.reached;
  // One in the queue, one waiting for a slot.
  answers.push(send(aBatch()), send(aBatch()));
  const stopped = stop();
  t.match(await send(aBatch()), { code: 'shutting_down', retryable: true });
  here.goOn();
  await stopped;
  for (const answer of answers) t.same(await answer, { accepted: 1, refused: [] });
  t.equal(passed.length, 3);
  await stop();
  t.notOk(await metric('queue_batches'), 'the gauge has ended');
});

void t.test('at the deadline a stop refuses unfinished batches', async (t) => {
  const { send, passed, stop, clock, logger } = await startMap(t, 'max_queue: 1', ODD);
  const here = aPlace(t);
  const answers = [send(aBatch(`wait:${here.name}`))];
  await here.reached;
  answers.push(send(aBatch()), send(aBatch()));
  const deadline = new AbortController();
  const stopped = stop(deadline.signal);
  deadline.abort();
  await stopped;
  for (const answer of answers) t.match(await answer, { code: 'shutting_down', retryable: true });
  t.equal(passed.length, 0);
  clock.advance(60_000);
  t.same(logger.lines, []);
});

void t.test('can be stopped unstarted', async (t) => {
  const settings = componentSettings('service_map');
  const config = sectionConfig(serviceMapConfig, '{}');
  const processor = createServiceMap(
    { ...settings, config },
    { consume: () => Promise.reject(new Error('nothing comes')) },
  );
  await processor.shutdown?.(new AbortController().signal);
  await processor.shutdown?.(AbortSignal.abort());
  t.pass();
});

void t.test('threads that fail to start stop the start', async (t) => {
  await t.rejects(startMap(t, '{}', BROKEN), { message: /no-such-thread/ });
});
