import t from 'tap';
import { startTestDaemon } from '../../support/daemon.js';
import { startOtlpEndpoint } from '../../support/otlp-endpoint.js';
import { jsonOf } from '../../support/otlp-requests.js';

const logs = (...teams: readonly (string | null)[]) => ({
  resourceLogs: teams.map((team, at) => ({
    resource: { attributes: team === null ? [] : [{ key: 'team', value: { stringValue: team } }] },
    scopeLogs: [
      { logRecords: [{ timeUnixNano: '1772323200000000000', body: { stringValue: `record ${at}` } }] },
    ],
  })),
});

void t.test('routes items, merges receipts, and counts what no route matches', async (t) => {
  const endpoint = await startOtlpEndpoint(t);
  const { url, otlpUrl, key, metricsUrl } = await startTestDaemon(t, {
    overlay: `
processors:
  transform: { logs: [{ set: { body: '"changed"' } }] }
  validation: { max_labels: 128 }
  filter/strict: { logs: ['log.attributes["missing"] == "x"'], on_error: refuse }
exporters:
  otlp_http: { endpoint: "${endpoint.url}", queue: { batch: { max_wait: 1ms } } }
  route:
    routes:
      - { condition: 'resource["team"] == "a"', pipelines: [logs/a] }
      - { condition: 'resource["team"] in ["a", "b"]', pipelines: [logs/b] }
      - { condition: 'resource["team"] == "strict"', pipelines: [logs/strict] }
service:
  pipelines:
    logs: { receivers: [otlp], processors: [], exporters: [route] }
    logs/a: { receivers: [route], processors: [transform], exporters: [otlp_http] }
    logs/b: { receivers: [route], exporters: [storage] }
    logs/strict: { receivers: [route], processors: [filter/strict], exporters: [storage] }
`,
  });
  const authorization = `Bearer ${key}`;
  const sent = await fetch(`${otlpUrl}/v1/logs`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/json' },
    body: jsonOf(logs('a', 'b', 'strict', 'none', null)),
  });
  t.equal(sent.status, 200);
  t.match(await sent.json(), { partialSuccess: { rejectedLogRecords: '1' } });
  await endpoint.received(1);
  t.match(JSON.stringify(endpoint.requests[0]?.body), /changed/);
  const stored = await fetch(`${url}/api/v1/dashboard/logs/search`, { headers: { authorization } });
  const text = await stored.text();
  t.match(text, /record 1/);
  t.notMatch(text, /record [0234]|changed/);
  const numbers = await (await fetch(`${metricsUrl}/metrics`)).text();
  t.match(numbers, /jackdaw_route_unmatched_items_total\{exporter="route",signal="logs"\} 2/);
  t.match(numbers, /jackdaw_receiver_accepted_items_total\{receiver="otlp",signal="logs"\} 4/);
});
