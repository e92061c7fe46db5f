import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { toAnyValue, toKeyValues } from '../../../src/otlp/encode/value.js';
import { BUILTIN_NAMES } from '../../../src/processors/redact/text/builtin.js';
import { serializeJson } from '../../../src/signal/json.js';
import { startTestDaemon, type TestDaemon } from '../../support/daemon.js';
import { metricValues } from '../../support/engine.js';
import { aSpan as anOtlpSpan, protobufOf, START, tracesOf } from '../../support/otlp-requests.js';
import { trueExamples } from '../../support/redaction-corpus.js';
import { traceIdOf } from '../../support/header-text.js';
import { aSpan, anItem } from '../../support/trace-batch.js';

const OVERLAY = `
processors:
  redact: { builtin: [${BUILTIN_NAMES.join(', ')}] }
service:
  pipelines:
    traces: { processors: [validation, redact, quota, cost, service_map] }
    metrics: { processors: [validation, redact, quota] }
    logs: { processors: [validation, redact, quota] }
`;
/** Shorter texts may occur in binary files by chance. */
const SHORTEST = 8;
const SECRETS = [...new Set(trueExamples().flatMap(({ gone }) => gone))].filter(
  (text) => Buffer.byteLength(text) >= SHORTEST,
);

/** Spans per request. */
const BATCH = 100;

/** Sends every example on every route in every field of a record. */
async function send({ url, otlpUrl, key }: TestDaemon, t: Test): Promise<void> {
  const authorization = `Bearer ${key}`;
  const values = trueExamples().map(({ value }) => value);
  for (let first = 0; first < values.length; first += BATCH) {
    const some = values.slice(first, first + BATCH);
    const item = anItem({
      spans: 0,
      trace: { metadata: { values: some }, error_message: serializeJson(some.slice(0, 20)) },
    });
    const texts = some.map((value) =>
      aSpan(traceIdOf(item), {
        input_data: { value },
        output_data: { text: serializeJson(value) },
        metadata: { value },
        error_message: serializeJson(value),
        status: 'failed',
      }),
    );
    const batch = await fetch(`${url}/api/v1/traces/batch`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: serializeJson({ traces: [{ ...item, spans: texts }] }),
    });
    t.equal(batch.status, 200, await batch.text());
  }
  const attributesOf = (index: number) =>
    toKeyValues({ value: values[index] ?? null, 'input.value': serializeJson(values[index]) });
  const spans = values.map((_, index) =>
    anOtlpSpan(1, {
      spanId: Buffer.from((index + 1).toString(16).padStart(16, '0'), 'hex'),
      attributes: attributesOf(index),
      events: [
        {
          name: 'exception',
          timeUnixNano: START,
          attributes: [
            ...attributesOf(index),
            ...toKeyValues({ 'exception.message': serializeJson(values[index]) }),
          ],
        },
      ],
      links: [{ traceId: Buffer.alloc(16, 9), spanId: Buffer.alloc(8, 9), attributes: attributesOf(index) }],
      status: { code: 2, message: serializeJson(values[index]) },
    }),
  );
  const resource = { attributes: toKeyValues({ 'service.name': 'shop', owners: values }) };
  const scope = { name: 'lib', attributes: toKeyValues({ owners: values }) };
  const traces = {
    resourceSpans: [
      {
        resource,
        scopeSpans: [{ scope, spans: tracesOf(...spans).resourceSpans?.[0]?.scopeSpans?.[0]?.spans ?? [] }],
      },
    ],
  };
  const logRecords = values.map((value, index) => ({
    timeUnixNano: START,
    body: toAnyValue(value),
    attributes: attributesOf(index),
  }));
  const dataPoints = values.map((value) => ({
    timeUnixNano: START,
    asInt: 1,
    attributes: toKeyValues({ to: serializeJson(value) }),
  }));
  const requests = {
    traces,
    logs: { resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords }] }] },
    metrics: {
      resourceMetrics: [
        { resource, scopeMetrics: [{ scope, metrics: [{ name: 'm', gauge: { dataPoints } }] }] },
      ],
    },
  };
  for (const signal of ['traces', 'logs', 'metrics'] as const) {
    const answer = await fetch(`${otlpUrl}/v1/${signal}`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/x-protobuf' },
      body: new Uint8Array(protobufOf(signal, requests[signal])),
    });
    t.equal(answer.status, 200, signal);
    t.equal((await answer.arrayBuffer()).byteLength, 0, `${signal}: nothing rejected`);
  }
}

/** The secrets in any file below a folder. */
function foundIn(folder: string): string[] {
  const files = filesBelow(folder).map((file) => readFileSync(file));
  return SECRETS.filter((text) => files.some((bytes) => bytes.includes(text)));
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? filesBelow(path) : [path];
  });
}

void t.test('no store file contains a finding, open or closed', async (t) => {
  const daemon = await startTestDaemon(t, { overlay: OVERLAY });
  await send(daemon, t);
  t.strictSame(foundIn(daemon.directory), [], 'including the write-ahead logs of the open store');
  const counts = await metricValues(daemon.meter, 'jackdaw_redact_replacements_total');
  for (const name of BUILTIN_NAMES)
    t.ok((counts[`jackdaw_redact_replacements_total{processor="redact",pattern="${name}"}`] ?? 0) > 25, name);
  const log = daemon.logs.join('\n');
  t.strictSame(
    SECRETS.filter((text) => log.includes(text)),
    [],
    'nor in the log',
  );
  await daemon.daemon.shutdown();
  t.strictSame(foundIn(daemon.directory), [], 'closed');
});

void t.test('without the processor the store files contain them', async (t) => {
  const daemon = await startTestDaemon(t);
  await send(daemon, t);
  t.ok(foundIn(daemon.directory).length > SECRETS.length / 2, 'so that they would have been found');
});
