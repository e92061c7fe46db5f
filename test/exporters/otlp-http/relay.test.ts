import { ROOT_CONTEXT, trace as traceApi } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node';
import t from 'tap';
import { builtinFactories } from '../../../src/builtin.js';
import { startEngine } from '../../support/engine.js';
import { startOtlpEndpoint } from '../../support/otlp-endpoint.js';

void t.test('a relay without store and keys forwards SDK data', async (t) => {
  const endpoint = await startOtlpEndpoint(t);
  const { daemon } = await startEngine(t, {
    factories: builtinFactories,
    config: `auth: { enabled: false }
receivers:
  otlp: { protocols: { http: { endpoint: "127.0.0.1:0" }, grpc: { endpoint: null } }, api_endpoint: null }
exporters: { otlp_http: { endpoint: "${endpoint.url}" } }
service: { pipelines: { traces: { receivers: [otlp], exporters: [otlp_http] } } }
`,
  });
  const url = daemon.addresses.get('127.0.0.1:0') ?? '';
  const exporter = new OTLPTraceExporter({ url: `${url}/v1/traces` });
  const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
  const tracer = provider.getTracer('the library', '1.0');
  const root = tracer.startSpan('root', { attributes: { 'gen_ai.operation.name': 'invoke_agent', n: 7 } });
  const child = tracer.startSpan('child', {}, traceApi.setSpan(ROOT_CONTEXT, root));
  child.addEvent('half way', { list: ['a', 'b'] });
  child.end();
  root.end();
  await provider.forceFlush();
  await endpoint.received(1);
  await provider.shutdown();

  const hex = (id: string) => Buffer.from(id, 'hex').toString('base64');
  const { traceId, spanId } = root.spanContext();
  t.match(endpoint.requests[0]?.body, {
    resourceSpans: [
      {
        scopeSpans: [
          {
            scope: { name: 'the library', version: '1.0' },
            spans: [
              {
                traceId: hex(traceId),
                parentSpanId: hex(spanId),
                spanId: hex(child.spanContext().spanId),
                name: 'child',
                kind: 'SPAN_KIND_INTERNAL',
                events: [{ name: 'half way', attributes: [{ key: 'list' }] }],
              },
              {
                spanId: hex(spanId),
                attributes: [
                  { key: 'gen_ai.operation.name', value: { stringValue: 'invoke_agent' } },
                  { key: 'n', value: { intValue: '7' } },
                ],
              },
            ],
          },
        ],
      },
    ],
  });
});

void t.test('authentication requires keys, with or without a store', async (t) => {
  await t.rejects(
    startEngine(t, {
      factories: builtinFactories,
      config: `receivers: { trace_batch: { endpoint: "127.0.0.1:0" } }
exporters: { debug: {} }
service: { pipelines: { traces: { receivers: [trace_batch], exporters: [debug] } } }
`,
    }),
    /needs a control store/,
  );
});
