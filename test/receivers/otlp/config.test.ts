import t from 'tap';
import type { Consumer } from '../../../src/component/consumer.js';
import { otlpReceiver } from '../../../src/receivers/otlp/factory.js';
import { otlpConfig } from '../../../src/receivers/otlp/config.js';
import type { TracesBatch } from '../../../src/signal/batch.js';
import { ONE_ITEM, protobufOf } from '../../support/otlp-requests.js';
import { startOtlpService } from '../../support/otlp-service.js';
import { sectionConfig } from '../../support/section-config.js';
import { startTestDaemon } from '../../support/daemon.js';

const configOf = (yaml: string) => sectionConfig(otlpConfig, yaml);

void t.test('defaults to the standard ports and recommended limits', async (t) => {
  t.match(configOf('{}'), {
    protocols: {
      http: { endpoint: '127.0.0.1:4318', max_request_body_size: '64MiB' },
      grpc: { endpoint: '127.0.0.1:4317', max_request_body_size: '4MiB' },
    },
    idle_timeout: '1h',
  });
});

void t.test('rejects a receiver that could accept nothing', async (t) => {
  const faults = (yaml: string) =>
    otlpReceiver.check?.(configOf(yaml)).map(({ path, message }) => `${path} ${message}`) ?? [];
  t.strictSame(faults('{}'), []);
  t.strictSame(faults('{ protocols: { http: { max_request_body_size: 0 } }, request_timeout: 0s }'), [
    '/protocols/http/max_request_body_size must be greater than 0, or every request is refused',
    '/request_timeout must be greater than 0, or every request is refused',
  ]);
  const nowhere = '{ protocols: { http: { endpoint: null }, grpc: { endpoint: "" } }, api_endpoint: null }';
  t.match(faults(nowhere), [/has no listener/]);
});

void t.test('declares its ports and certificates', async (t) => {
  const tls = '{ cert_file: a.crt, key_file: a.key }';
  const config = configOf(`{ protocols: { grpc: { tls: ${tls} }, http: { endpoint: null } } }`);
  t.strictSame(otlpReceiver.resources?.(config), [
    { kind: 'grpc_listener', endpoint: '127.0.0.1:4317' },
    {
      kind: 'tls_files',
      listener: '127.0.0.1:4317',
      certFile: 'a.crt',
      keyFile: 'a.key',
      clientCaFile: undefined,
      minVersion: 'TLSv1.2',
    },
  ]);
});

void t.test('each listener can be disabled', async (t) => {
  const off = 'receivers: { otlp: { protocols: { grpc: { endpoint: null } }, api_endpoint: null } }';
  const daemon = await startTestDaemon(t, { overlay: off });
  t.not(daemon.otlpUrl, '');
  t.equal(daemon.grpcAddress, '');
  const answer = await fetch(`${daemon.url}/api/v1/otlp/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.key}` },
  });
  t.equal(answer.status, 404);
});

void t.test('api_endpoint defaults to the endpoint of query', async (t) => {
  const daemon = await startTestDaemon(t);
  const answer = await fetch(`${daemon.url}/api/v1/otlp/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${daemon.key}`, 'content-type': 'application/json' },
    body: '{}',
  });
  t.equal(answer.status, 200);
});

void t.test('runs carry the configured waits or none', async (t) => {
  for (const [yaml, expected] of [
    ['{}', [3_600_000, 30_000]],
    ['idle_timeout: 5m', [300_000, 30_000]],
    ['{ idle_timeout: 0s, orphan_wait: 0s }', [null, null]],
  ] as const) {
    const seen: unknown[] = [];
    const traces: Consumer<TracesBatch> = {
      consume: async ({ items }) => {
        seen.push(...items.map(({ trace }) => [trace.idle_timeout_ms, trace.orphan_wait_ms]));
        return { accepted: items.length, refused: [] };
      },
    };
    const service = await startOtlpService(t, { traces }, yaml);
    await service.send('traces', { body: protobufOf('traces', ONE_ITEM.traces) });
    t.strictSame(seen, [expected]);
  }
});
