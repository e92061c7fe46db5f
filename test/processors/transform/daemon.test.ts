import t from 'tap';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import { startTestDaemon } from '../../support/daemon.js';
import { startOtlpEndpoint } from '../../support/otlp-endpoint.js';
import { aSpan, protobufOf, START, tracesOf } from '../../support/otlp-requests.js';
import { TRACE_ID } from '../../support/mapped-span.js';

const OVERLAY = `
processors:
  transform:
    spans:
      - when: 'has(span.metadata.team)'
        set: { name: 'span.metadata.team + ": " + span.name', metadata.seen: 'true' }
        delete: [metadata.team]
    points:
      - set: { name: '"renamed." + point.name', attributes.seen: 'true' }
        delete: [attributes.host]
service:
  pipelines:
    traces: { processors: [validation, transform, quota, cost, service_map] }
    metrics: { processors: [validation, transform, quota] }
`;

void t.test('stores the result of a rule on an OTLP span', async (t) => {
  const { url, otlpUrl, key } = await startTestDaemon(t, { overlay: OVERLAY });
  const authorization = `Bearer ${key}`;
  const request = tracesOf(
    aSpan(1, { attributes: toKeyValues({ team: 'ours', kept: 1 }) }),
    aSpan(2, { attributes: toKeyValues({ kept: 2 }) }),
  );
  const sent = await fetch(`${otlpUrl}/v1/traces`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(protobufOf('traces', request)),
  });
  t.equal(sent.status, 200);
  const trace = `${url}/api/v1/dashboard/traces/${TRACE_ID}`;
  const { spans } = (await (await fetch(trace, { headers: { authorization } })).json()) as {
    readonly spans: readonly { readonly name: string; readonly span_id: string }[];
  };
  t.strictSame(spans.map(({ name }) => name).sort(), ['ours: span 1', 'span 2']);
  const id = spans.find(({ name }) => name === 'ours: span 1')?.span_id ?? '';
  const detail = await (await fetch(`${trace}/spans/${id}`, { headers: { authorization } })).text();
  t.match(detail, '"seen"');
  t.match(detail, '"kept"');
  t.notMatch(detail, '"team"');
});

for (const format of ['protobuf', 'json'] as const)
  void t.test(`stores and forwards the result of a rule on points sent as ${format}`, async (t) => {
    const endpoint = await startOtlpEndpoint(t);
    const { url, otlpUrl, key } = await startTestDaemon(t, {
      overlay: `exporters: { otlp_http: { endpoint: "${endpoint.url}" } }${OVERLAY.trimEnd().replace(/ \}$/, ', exporters: [storage, otlp_http] }')}`,
    });
    const authorization = `Bearer ${key}`;
    const dataPoints = ['a', 'b'].map((host) => ({
      timeUnixNano: START,
      asInt: 5,
      attributes: toKeyValues({ host, core: host }),
    }));
    const request = {
      resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'm', gauge: { dataPoints } }] }] }],
    };
    const sent = await fetch(`${otlpUrl}/v1/metrics`, {
      method: 'POST',
      headers: { authorization, 'content-type': `application/${format === 'json' ? 'json' : 'x-protobuf'}` },
      body: format === 'json' ? JSON.stringify(request) : new Uint8Array(protobufOf('metrics', request)),
    });
    t.equal(sent.status, 200);
    const query = `${url}/api/v1/dashboard/metrics/query?name=renamed.m`;
    const result = (await (await fetch(query, { headers: { authorization } })).json()) as {
      readonly data_points: readonly { readonly labels: object }[];
    };
    t.strictSame(
      result.data_points.map(({ labels }) => labels),
      [
        { core: 'a', seen: 'true' },
        { core: 'b', seen: 'true' },
      ],
    );
    await endpoint.received(1);
    t.match(endpoint.requests[0]?.body, {
      resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: 'renamed.m' }] }] }],
    });
    t.match(JSON.stringify(endpoint.requests[0]?.body), /"core".*"seen".*"core".*"seen"/);
    t.notMatch(JSON.stringify(endpoint.requests[0]?.body), /"host"/);
  });
