import t from 'tap';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import { startTestDaemon } from '../../support/daemon.js';
import { TRACE_ID } from '../../support/mapped-span.js';
import { startOtlpEndpoint } from '../../support/otlp-endpoint.js';
import { aSpan, jsonOf, ONE_ITEM, protobufOf } from '../../support/otlp-requests.js';
import type { TelemetrySignal } from '../../../src/signal/batch.js';

const RULES = `
processors:
  resource:
    rules:
      - set: { deployment.environment.name: '"production"', service.name: '"stamped"' }
        delete: [host.ip]
`;

const resource = { attributes: toKeyValues({ 'service.name': 'sent', 'host.ip': '192.0.2.7', kept: 7 }) };
const REQUESTS: Readonly<Record<TelemetrySignal, object>> = {
  traces: { resourceSpans: [{ resource, scopeSpans: [{ spans: [aSpan(1, { parentSpanId: null })] }] }] },
  metrics: { resourceMetrics: [{ ...ONE_ITEM.metrics.resourceMetrics[0], resource }] },
  logs: { resourceLogs: [{ ...ONE_ITEM.logs.resourceLogs[0], resource }] },
};
const EXPECTED = ['deployment.environment.name=production', 'kept=7', 'service.name=stamped'];

interface Received {
  readonly [name: string]: readonly {
    readonly resource: {
      readonly attributes: readonly {
        readonly key: string;
        readonly value: { readonly stringValue?: string; readonly intValue?: string };
      }[];
    };
  }[];
}

for (const format of ['protobuf', 'json'] as const)
  void t.test(`stores and forwards the attributes of every signal, sent as ${format}`, async (t) => {
    const endpoint = await startOtlpEndpoint(t);
    const pipeline = '{ processors: [resource], exporters: [storage, otlp_http] }';
    const { url, otlpUrl, key } = await startTestDaemon(t, {
      overlay: `${RULES}
exporters: { otlp_http: { endpoint: "${endpoint.url}" } }
service: { pipelines: { traces: ${pipeline}, metrics: ${pipeline}, logs: ${pipeline} } }
`,
    });
    const authorization = `Bearer ${key}`;
    for (const [signal, request] of Object.entries(REQUESTS) as [TelemetrySignal, object][]) {
      const sent = await fetch(`${otlpUrl}/v1/${signal}`, {
        method: 'POST',
        headers: {
          authorization,
          'content-type': `application/${format === 'json' ? 'json' : 'x-protobuf'}`,
        },
        body: format === 'json' ? jsonOf(request) : new Uint8Array(protobufOf(signal, request)),
      });
      t.equal(sent.status, 200, signal);
    }
    const read = async (path: string) =>
      (await fetch(`${url}/api/v1/dashboard/${path}`, { headers: { authorization } })).text();
    t.match(await read(`traces/${TRACE_ID}`), /"environment":"production"/);
    t.match(await read('traces'), /"agent_name":"stamped"/);
    t.match(await read('logs/search?service_name=stamped'), /"body":"hi"/);
    t.match(await read('metrics/query?name=m'), /"labels":\{"service_name":"stamped"\}/);

    await endpoint.received(3);
    t.equal(endpoint.requests.length, 3);
    for (const { path, body } of endpoint.requests) {
      const [received] = Object.values(body as unknown as Received);
      const attributes = received?.[0]?.resource.attributes ?? [];
      t.strictSame(
        attributes.map(({ key, value }) => `${key}=${value.stringValue ?? value.intValue ?? ''}`).sort(),
        EXPECTED,
        path,
      );
    }
  });
