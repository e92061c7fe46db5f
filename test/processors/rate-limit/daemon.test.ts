import t from 'tap';
import { Code } from '../../../src/receivers/otlp/grpc-code.js';
import { startTestDaemon } from '../../support/daemon.js';
import { grpcFailureOf, startOtlpGrpcClient } from '../../support/otlp-grpc-client.js';
import { ONE_ITEM, protobufOf } from '../../support/otlp-requests.js';
import { anItem } from '../../support/trace-batch.js';

const OVERLAY = `
processors:
  rate_limit: { items_per_second: 0.01, burst: 1, per: key }
service:
  pipelines:
    traces: { processors: [rate_limit, validation, quota, cost, service_map] }
`;

void t.test('every route returns the time to retry', async (t) => {
  const { url, otlpUrl, grpcAddress, key } = await startTestDaemon(t, { overlay: OVERLAY });
  const authorization = `Bearer ${key}`;
  const batch = async () =>
    fetch(`${url}/api/v1/traces/batch`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ traces: [anItem()] }),
    });
  t.equal((await batch()).status, 200);
  const refused = await batch();
  t.equal(refused.status, 429);
  t.match(await refused.json(), { code: 'rate_limited', detail: /0\.01 items per second from one key/ });
  const waits = Number(refused.headers.get('retry-after'));
  t.ok(waits > 90 && waits <= 100, String(waits));

  const body = protobufOf('traces', ONE_ITEM.traces);
  const otlp = await fetch(`${otlpUrl}/v1/traces`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/x-protobuf' },
    body: new Uint8Array(body),
  });
  t.equal(otlp.status, 429);
  t.ok(Number(otlp.headers.get('retry-after')) > 90);

  const call = startOtlpGrpcClient(t, grpcAddress);
  const failure = await grpcFailureOf(call('traces', body, { key }));
  t.equal(failure.code, Code.RESOURCE_EXHAUSTED);
  t.ok((failure.retryAfter ?? 0) > 90, 'with a RetryInfo');
});
