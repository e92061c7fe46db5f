import { Metadata } from '@grpc/grpc-js';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Context } from '@opentelemetry/api';
import { OTLPLogExporter as LogGrpc } from '@opentelemetry/exporter-logs-otlp-grpc';
import { OTLPLogExporter as LogJson } from '@opentelemetry/exporter-logs-otlp-http';
import { OTLPLogExporter as LogProto } from '@opentelemetry/exporter-logs-otlp-proto';
import { OTLPMetricExporter as MetricGrpc } from '@opentelemetry/exporter-metrics-otlp-grpc';
import { OTLPMetricExporter as MetricJson } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPMetricExporter as MetricProto } from '@opentelemetry/exporter-metrics-otlp-proto';
import { OTLPTraceExporter as TraceGrpc } from '@opentelemetry/exporter-trace-otlp-grpc';
import { OTLPTraceExporter as TraceJson } from '@opentelemetry/exporter-trace-otlp-http';
import { OTLPTraceExporter as TraceProto } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchLogRecordProcessor, LoggerProvider } from '@opentelemetry/sdk-logs';
import { AggregationType, MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics';
import { resources } from '@opentelemetry/sdk-node';
import {
  BatchSpanProcessor,
  InMemorySpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import t from 'tap';
import { ApiCaller } from '../../support/api-caller.js';
import { CaptureExporter } from '../../support/capture-exporter.js';
import { startTestDaemon } from '../../support/daemon.js';

const PROTOCOLS = ['http/protobuf', 'http/json', 'grpc'] as const;
type Protocol = (typeof PROTOCOLS)[number];

/** The endpoint and key. */
interface Target {
  readonly otlpUrl: string;
  readonly grpcAddress: string;
  readonly key: string;
}

function exportersOf(protocol: Protocol, { otlpUrl, grpcAddress, key }: Target) {
  const metadata = new Metadata();
  metadata.set('authorization', `Bearer ${key}`);
  const grpc = { url: `http://${grpcAddress}`, metadata };
  const http = (signal: string) => ({
    url: `${otlpUrl}/v1/${signal}`,
    headers: { authorization: `Bearer ${key}` },
  });
  switch (protocol) {
    case 'grpc':
      return { traces: new TraceGrpc(grpc), metrics: new MetricGrpc(grpc), logs: new LogGrpc(grpc) };
    case 'http/json':
      return {
        traces: new TraceJson(http('traces')),
        metrics: new MetricJson(http('metrics')),
        logs: new LogJson(http('logs')),
      };
    case 'http/protobuf':
      return {
        traces: new TraceProto(http('traces')),
        metrics: new MetricProto(http('metrics')),
        logs: new LogProto(http('logs')),
      };
  }
}

/** The instrumented program: a run with a model call, measurements, and a log record within the call. */
async function runProgram(service: string, exporters: ReturnType<typeof exportersOf>) {
  const resource = resources.resourceFromAttributes({ 'service.name': service, 'host.cores': 8 });
  const sent = new InMemorySpanExporter();
  const tracers = new NodeTracerProvider({
    resource,
    spanProcessors: [new BatchSpanProcessor(exporters.traces), new SimpleSpanProcessor(sent)],
  });
  const tracer = tracers.getTracer('agent-library', '4.5.6');
  const root = tracer.startSpan(
    'answer a question',
    { attributes: { 'gen_ai.agent.name': 'helper' } },
    ROOT_CONTEXT,
  );
  const inRoot = trace.setSpan(ROOT_CONTEXT, root);
  const call = tracer.startSpan(
    'chat gpt-4o',
    {
      kind: SpanKind.CLIENT,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'gpt-4o',
        'gen_ai.usage.input_tokens': 1200,
        'gen_ai.usage.output_tokens': 34,
        'a.flag': true,
        'a.ratio': 0.25,
        'a.list': ['grüße', '🎉'],
      },
      links: [{ context: root.spanContext(), attributes: { why: 'because' } }],
    },
    inRoot,
  );
  const inCall = trace.setSpan(inRoot, call);
  call.addEvent('first token', { 'after.ms': 12 });
  const logs = emitLogs(resource, exporters, inCall);
  call.setStatus({ code: SpanStatusCode.ERROR, message: 'the model was busy' });
  call.end();
  root.end();
  const spans = sent.getFinishedSpans();
  const metrics = measure(resource, exporters);
  await Promise.all([tracers.shutdown(), metrics, logs]);
  return { spans, traceId: root.spanContext().traceId };
}

async function emitLogs(
  resource: ReturnType<typeof resources.resourceFromAttributes>,
  exporters: ReturnType<typeof exportersOf>,
  context: Context,
): Promise<void> {
  const provider = new LoggerProvider({
    resource,
    processors: [new BatchLogRecordProcessor({ exporter: exporters.logs })],
  });
  const logger = provider.getLogger('agent-library', '4.5.6');
  logger.emit({
    body: 'the model refused the unmistakable request',
    // eslint-disable-next-line @typescript-eslint/no-unsafe-enum-assignment -- the package with the enum is none of ours
    severityNumber: 13,
    severityText: 'WARN',
    attributes: { attempt: 2 },
    context,
  });
  logger.emit({ body: { structured: ['unmistakable', 1, true] }, context: ROOT_CONTEXT });
  await provider.shutdown();
}

async function measure(
  resource: ReturnType<typeof resources.resourceFromAttributes>,
  exporters: ReturnType<typeof exportersOf>,
): Promise<void> {
  const provider = new MeterProvider({
    resource,
    readers: [new PeriodicExportingMetricReader({ exporter: exporters.metrics })],
    views: [
      { instrumentName: 'exp.sizes', aggregation: { type: AggregationType.EXPONENTIAL_HISTOGRAM } },
      {
        instrumentName: 'latency',
        aggregation: { type: AggregationType.EXPLICIT_BUCKET_HISTOGRAM, options: { boundaries: [10, 100] } },
      },
    ],
  });
  const meter = provider.getMeter('agent-library', '4.5.6');
  meter.createCounter('requests', { unit: '1', description: 'Requests made.' }).add(5, { route: '/x' });
  meter.createUpDownCounter('active').add(-2);
  meter.createGauge('temperature', { unit: 'Cel' }).record(21.5, { room: 'a' });
  const latency = meter.createHistogram('latency', { unit: 'ms' });
  for (const value of [5, 50, 500]) latency.record(value);
  const sizes = meter.createHistogram('exp.sizes');
  for (const value of [1, 2, 4]) sizes.record(value);
  await provider.shutdown();
}

/** A hexadecimal trace id in API format. */
function uuidOf(hex: string): string {
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

interface ShownTrace {
  readonly agent_name: string;
  readonly status: string;
  readonly total_tokens: number;
  readonly spans: readonly ({
    readonly name: string;
    readonly span_id: string;
    readonly started_at: string;
  } & Record<string, unknown>)[];
}

interface ShownMetric {
  readonly type: string;
  readonly unit: string;
  readonly data_points: readonly Record<string, unknown>[];
}

void t.test('the API returns what the SDK exporters of all signals send', async (t) => {
  const capture = new CaptureExporter();
  const { overlay, factory } = capture;
  const daemon = await startTestDaemon(t, { overlay, factories: [factory] });
  const api = new ApiCaller(daemon.url, daemon.key);
  for (const protocol of PROTOCOLS) {
    for (const compression of ['none', 'gzip']) {
      await t.test(`${protocol}, compression: ${compression}`, async (t) => {
        process.env.OTEL_EXPORTER_OTLP_COMPRESSION = compression;
        const service = `${protocol}-${compression}`;
        const { spans, traceId } = await runProgram(service, exportersOf(protocol, daemon));
        const id = uuidOf(traceId);

        const shown = await api.get<ShownTrace>(`/dashboard/traces/${id}`);
        t.match(shown, { agent_name: 'helper', status: 'completed', total_tokens: 1234 });
        t.equal(shown.spans.length, spans.length);
        // The API omits metadata of spans; the capture exporter sees what is stored.
        const metadataOf = (spanId: string | undefined) =>
          capture.items.traces.flatMap((run) => run.spans).find(({ span_id }) => span_id === spanId)
            ?.metadata;
        const spanOf = (name: string) => shown.spans.find((span) => span.name === name);
        for (const span of spans) {
          const { spanId } = span.spanContext();
          const found = shown.spans.find(({ span_id }) => span_id === uuidOf(traceId.slice(16) + spanId));
          t.equal(found?.name, span.name);
          t.match(metadataOf(found?.span_id), span.attributes, `${span.name}: every attribute`);
          const [seconds, nanos] = span.startTime;
          t.equal(Date.parse(found?.started_at ?? ''), seconds * 1000 + Math.floor(nanos / 1_000_000));
        }
        t.match(spanOf('chat gpt-4o'), {
          type: 'llm',
          model: 'gpt-4o',
          input_tokens: 1200,
          output_tokens: 34,
          status: 'failed',
          error_message: 'the model was busy',
          parent_span_id: spanOf('answer a question')?.span_id,
        });
        t.match(metadataOf(spanOf('chat gpt-4o')?.span_id), {
          resource: { 'service.name': service, 'host.cores': 8 },
          scope: { name: 'agent-library', version: '4.5.6' },
          events: [{ name: 'first token', attributes: { 'after.ms': 12 } }],
          links: [{ attributes: { why: 'because' } }],
        });

        const query = new URLSearchParams({ labels: JSON.stringify({ service_name: service }) });
        const metric = (name: string) =>
          api.get<ShownMetric>(`/dashboard/metrics/query?name=${name}&${query.toString()}`);
        t.match(await metric('requests'), {
          type: 'sum',
          unit: '1',
          data_points: [{ value: 5, labels: { route: '/x' } }],
        });
        t.match(await metric('active'), { type: 'sum', data_points: [{ value: -2 }] });
        t.match(await metric('temperature'), { type: 'gauge', unit: 'Cel', data_points: [{ value: 21.5 }] });
        t.match(await metric('latency'), {
          type: 'histogram',
          data_points: [
            {
              value: 185,
              count: 3,
              sum: 555,
              min: 5,
              max: 500,
              bucket_counts: [1, 1, 1],
              explicit_bounds: [10, 100],
            },
          ],
        });
        t.match(await metric('exp.sizes'), {
          type: 'exponential_histogram',
          data_points: [{ count: 3, sum: 7 }],
        });

        const logs = await api.get<{
          readonly count: number;
          readonly items: readonly Record<string, unknown>[];
        }>(`/dashboard/logs/search?query=unmistakable&service_name=${encodeURIComponent(service)}`);
        t.equal(logs.count, 2);
        t.match(
          logs.items.find(({ severity }) => severity === 'warn'),
          {
            body: 'the model refused the unmistakable request',
            trace_id: id,
            span_id: spanOf('chat gpt-4o')?.span_id,
            attributes: { attempt: 2 },
          },
        );
        t.match(
          logs.items.find(({ severity }) => severity === 'info'),
          { body: '{"structured":["unmistakable",1,true]}', trace_id: null },
        );
      });
    }
  }
});

void t.test('the same routes on the API listener', async (t) => {
  const daemon = await startTestDaemon(t);
  const api = new ApiCaller(daemon.url, daemon.key);
  const otlpUrl = `${daemon.url}/api/v1/otlp`;
  const { traceId } = await runProgram('by-api', exportersOf('http/protobuf', { ...daemon, otlpUrl }));
  t.match(await api.get(`/dashboard/traces/${uuidOf(traceId)}`), { agent_name: 'helper' });

  for (const type of ['application/x-protobuf', 'application/json']) {
    const response = await fetch(`${otlpUrl}/v1/traces`, {
      method: 'POST',
      headers: { 'content-type': type },
    });
    t.equal(response.status, 401);
    t.equal(response.headers.get('content-type'), type, 'rejected by the API guard in OTLP format');
  }
});

void t.test('SDK data survives a restart', async (t) => {
  const first = await startTestDaemon(t);
  const { traceId } = await runProgram('restarted', exportersOf('grpc', first));
  await first.daemon.shutdown();
  const second = await startTestDaemon(t, { directory: first.directory, key: first.key });
  const api = new ApiCaller(second.url, second.key);
  t.match(await api.get(`/dashboard/traces/${uuidOf(traceId)}`), {
    agent_name: 'helper',
    status: 'completed',
  });
});
