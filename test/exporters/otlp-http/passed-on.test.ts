import { join } from 'node:path';
import t, { type Test } from 'tap';
import type { Consumer } from '../../../src/component/consumer.js';
import { deadLettersCommand } from '../../../src/cli/dead-letters.js';
import { DeadLetters } from '../../../src/delivery/queue/disk/dead-letters.js';
import { QueuedExporter } from '../../../src/delivery/queue/queued-exporter.js';
import { otlpHttpConfig } from '../../../src/exporters/otlp-http/config.js';
import { otlpHttpExporter } from '../../../src/exporters/otlp-http/factory.js';
import { readRejection } from '../../../src/otlp/decode/answer.js';
import { RAW_DECODERS } from '../../../src/otlp/map/decode-raw.js';
import type { Span } from '../../../src/otlp/wire/requests.js';
import { validationConfig } from '../../../src/processors/validation/config.js';
import { validationProcessor } from '../../../src/processors/validation/factory.js';
import type { Batch, TracesBatch } from '../../../src/signal/batch.js';
import { instrument } from '../../../src/pipeline/instrument.js';
import { componentSettings } from '../../support/component-settings.js';
import { metricValues } from '../../support/engine.js';
import { pause } from '../../support/http-listener.js';
import { memoryIo } from '../../support/memory-io.js';
import { startOtlpEndpoint } from '../../support/otlp-endpoint.js';
import { FULL } from '../../support/otlp-full-requests.js';
import { aSpan, protobufOf, tracesOf } from '../../support/otlp-requests.js';
import { startOtlpService } from '../../support/otlp-service.js';
import { sectionConfig } from '../../support/section-config.js';
import { StatusHost } from '../../support/status-host.js';

/** The form of the batches that reached the exporter. */
interface Seen {
  raw: number;
  records: number;
}

/** The trace pipeline of a sidecar: the receiver, `validation` and a queued `otlp_http`, with real sockets and files. */
async function startSidecar(t: Test, exporterYaml: string, validationYaml = '{}') {
  const settings = componentSettings('otlp_http');
  const config = sectionConfig(otlpHttpConfig, 'queue: { concurrency: 1 }', exporterYaml);
  const queued = new QueuedExporter(
    otlpHttpExporter.create({ ...settings, config }),
    { ...settings, config },
    RAW_DECODERS,
  );
  const seen: Seen = { raw: 0, records: 0 };
  const watched: Consumer<TracesBatch> = instrument(queued.inputs.traces as Consumer<Batch<unknown>>, {
    signal: 'traces',
    logger: settings.logger,
    observers: [],
    look: ({ kind = 'records' }) => {
      seen[kind] += 1;
      return undefined;
    },
    onFailure: queued.propagateErrors('traces'),
  });
  const traces = validationProcessor.create.traces?.({
    ...componentSettings('validation'),
    config: sectionConfig(validationConfig, validationYaml),
    next: watched,
  });
  if (traces === undefined) throw new Error('validation is not for traces');
  await queued.start(new StatusHost().host);
  let stopped: Promise<void> | undefined;
  const stop = (): Promise<void> => (stopped ??= queued.shutdown(AbortSignal.timeout(5000)));
  t.teardown(stop);
  const service = await startOtlpService(t, { traces });
  return {
    seen,
    stop,
    clock: settings.clock,
    send: (body: Uint8Array) => service.send('traces', { body }),
    metric: async (name: string) =>
      (await metricValues(settings.meter, name))[`${name}{exporter="otlp_http",signal="traces"}`],
  };
}

const inTrace = (trace: number, span: number, changes: Partial<Span> = {}): Span =>
  aSpan(span, { traceId: Buffer.alloc(16, trace), ...changes });
const GOOD = protobufOf('traces', tracesOf(inTrace(1, 1), inTrace(2, 1), inTrace(1, 2)));
const SENT = 'jackdaw_exporter_sent_items_total';

void t.test('forwards requests byte for byte if no processor reads items', async (t) => {
  const full = protobufOf('traces', FULL.traces);
  for (const [name, queue] of [
    ['in memory', '{ batch: { max_wait: 0s } }'],
    ['on disk', `{ type: disk, directory: ${JSON.stringify(join(t.testdir(), 'queue'))} }`],
  ] as const)
    for (const compression of ['gzip', 'none']) {
      const endpoint = await startOtlpEndpoint(t);
      const { send, seen, metric, stop } = await startSidecar(
        t,
        `endpoint: ${endpoint.url}\ncompression: ${compression}\nqueue: ${queue}`,
      );
      for (const [index, body] of [GOOD, full].entries()) {
        t.equal((await send(body)).status, 200);
        await endpoint.received(index + 1);
      }
      t.strictSame(
        endpoint.requests.map(({ bytes }) => bytes),
        [GOOD, full],
        `${name}, compression ${compression}`,
      );
      t.equal(endpoint.requests[0]?.headers['content-encoding'], compression === 'gzip' ? 'gzip' : undefined);
      t.strictSame(seen, { raw: 2, records: 0 });
      await stop();
      t.equal(await metric(SENT), 3, 'traces');
    }
});

void t.test('rejects invalid requests early and forwards the valid remainder', async (t) => {
  const endpoint = await startOtlpEndpoint(t);
  const { send, seen } = await startSidecar(
    t,
    `endpoint: ${endpoint.url}\nqueue: { batch: { max_wait: 0s } }`,
    'max_spans_per_trace: 2',
  );
  const broken = await send(GOOD.subarray(0, GOOD.length - 3));
  t.equal(broken.status, 400);
  t.match(broken.bytes.toString(), /is not a protobuf message of traces/);
  t.equal((await send(Buffer.from('nonsense'))).status, 400);
  t.strictSame(seen, { raw: 0, records: 0 });

  const bad = protobufOf('traces', tracesOf(inTrace(1, 1), inTrace(2, 1, { spanId: Buffer.alloc(8) })));
  const partly = await send(bad);
  t.match(readRejection('traces', partly.bytes, 'protobuf'), {
    count: 1,
    reason: /spans\/1\/spanId: must be/,
  });
  const many = protobufOf('traces', tracesOf(inTrace(1, 1), inTrace(1, 2), inTrace(1, 3), inTrace(2, 1)));
  const tooMany = await send(many);
  t.match(readRejection('traces', tooMany.bytes, 'protobuf'), { count: 3, reason: /more than 2 spans/ });
  await endpoint.received(2);
  const names = endpoint.requests.map(({ body }) =>
    [...JSON.stringify(body).matchAll(/"name":"(span \d)"/g)].map(([, name]) => name),
  );
  t.strictSame(names, [['span 1'], ['span 1']]);
  t.strictSame(seen, { raw: 0, records: 2 });
});

void t.test('with limits below those of the mapping, validation reads everything', async (t) => {
  const endpoint = await startOtlpEndpoint(t);
  const { send, seen } = await startSidecar(
    t,
    `endpoint: ${endpoint.url}\nqueue: { batch: { max_wait: 0s } }`,
    'max_name_length: 6',
  );
  const long = protobufOf('traces', tracesOf(inTrace(1, 1), inTrace(2, 1, { name: 'a longer name' })));
  t.match(readRejection('traces', (await send(long)).bytes, 'protobuf'), { count: 1 });
  await endpoint.received(1);
  t.strictSame(seen, { raw: 0, records: 1 });
});

void t.test(
  'the disk queue survives a restart, and a rejected batch becomes a readable dead letter',
  async (t) => {
    const folder = t.testdir();
    const endpoint = await startOtlpEndpoint(t);
    const yaml = `endpoint: ${endpoint.url}\nqueue: { type: disk, directory: ${JSON.stringify(folder)} }`;
    endpoint.answer = () => ({ status: 503 });
    const first = await startSidecar(t, yaml);
    await first.send(GOOD);
    await endpoint.received(1);
    await first.stop();
    endpoint.answer = () => ({ status: 400, body: 'never' });
    const { metric, clock } = await startSidecar(t, yaml);
    await endpoint.received(2);
    const letters = new DeadLetters(join(folder, 'otlp_http'));
    while ((await letters.ids()).length === 0) await pause();
    const [id = ''] = await letters.ids();
    const io = memoryIo();
    await deadLettersCommand(io).parseAsync(['show', id, '--directory', folder], { from: 'user' });
    t.match(JSON.parse(io.outText()), {
      signal: 'traces',
      reason: 'refused',
      items: [{ spans: [{ name: 'span 1' }, { name: 'span 2' }] }, { spans: [{ name: 'span 1' }] }],
    });
    endpoint.answer = undefined;
    await letters.replay(id);
    while (endpoint.requests.length < 3) {
      clock.advance(1000);
      await pause();
    }
    for (const { bytes, headers } of endpoint.requests) {
      t.strictSame(bytes, GOOD);
      t.equal(headers['jackdaw-batch-id'], endpoint.requests[0]?.headers['jackdaw-batch-id']);
    }
    t.ok((await metric(SENT)) !== undefined);
  },
);
