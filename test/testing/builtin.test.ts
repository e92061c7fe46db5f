import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import t from 'tap';
import { builtinFactories } from '../../src/builtin.js';
import type { Factory } from '../../src/component/factory.js';
import { systemClock } from '../../src/telemetry/system-clock.js';
import { isControlStore } from '../../src/storage/contracts/control-store.js';
import {
  conformance,
  sampleBatch,
  sectionOf,
  TestHost,
  TestLogger,
  TestMeter,
  type Subject,
} from '../../src/testing/index.js';
import { aUser } from '../storage/duckdb/meta-records.js';
import { testFolder } from '../support/test-folder.js';

// @alone: the conformance kit looks at everything that its process has open.

/** Runs the conformance kit for plugins on every built-in component. */

function factoryOf(kind: Factory['kind'], type: string): Factory {
  const found = builtinFactories.find((factory) => factory.kind === kind && factory.type === type);
  if (!found) throw new Error(`there is no ${kind} ${type}`);
  return found;
}

// A long test on a machine that also runs others.
t.setTimeout(340_000);
const folder = testFolder(t);
const user = aUser();

/** The stores used by other components, created once. */
async function openStores(): Promise<Readonly<Record<string, object>>> {
  const extensions: Record<string, object> = {};
  for (const [type, config] of [
    ['sqlite', { path: join(folder, 'control.db') }],
    ['duckdb', { path: join(folder, 'store.duckdb'), reserve: 0 }],
  ] as const) {
    const factory = factoryOf('extension', type);
    if (factory.kind !== 'extension') throw new Error('never');
    const component = factory.create({
      id: type,
      config: sectionOf(factory, config),
      logger: new TestLogger(),
      meter: new TestMeter(),
      clock: systemClock,
    });
    await component.start?.(new TestHost({ extensions }));
    extensions[type] = component;
    t.teardown(() => component.shutdown?.(new AbortController().signal));
  }
  if (!isControlStore(extensions['sqlite'])) throw new Error('it keeps no users');
  await extensions['sqlite'].accounts.createUser(user);
  return extensions;
}

const extensions = await openStores();
const sample: NonNullable<Subject['sample']> = (signal, count) => ({
  ...sampleBatch(signal, count),
  tenant: user.id,
});
const onStores: Subject = { extensions, sample };
const withoutStores = { unstartable: { extensions: {}, error: /no extension/ } };

/** A server that accepts anything. */
async function sink() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end('{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    config: { endpoint: `http://127.0.0.1:${port}` },
    tearDown: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

const body = () => {
  const times = { started_at: '2026-01-15T12:00:00Z', ended_at: '2026-01-15T12:00:01Z' };
  return JSON.stringify({ traces: [{ trace: { trace_id: randomUUID(), agent: 'a', ...times }, spans: [] }] });
};
const otlpBody = () =>
  JSON.stringify({
    resourceLogs: [
      { scopeLogs: [{ logRecords: [{ timeUnixNano: '1768478400000000000', body: { stringValue: 'x' } }] }] },
    ],
  });
const JSON_HEADERS = { 'content-type': 'application/json' };

/** The requirements of each component. A component that is not listed fails this file. */
const SUBJECTS: Readonly<Record<string, Subject | null>> = {
  'receiver trace_batch': {
    send: ({ host }) => host.request('POST', '/api/v1/traces/batch', { body: body(), headers: JSON_HEADERS }),
  },
  'receiver otlp': {
    config: { protocols: { grpc: { endpoint: '127.0.0.1:0' } } },
    send: ({ host }) => host.request('POST', '/v1/logs', { body: otlpBody(), headers: JSON_HEADERS }),
  },
  'receiver scores': {
    send: ({ host }) =>
      host.request('POST', '/api/v1/scores', {
        body: JSON.stringify({ scores: [{ trace_id: randomUUID(), name: 'tone', value: 1 }] }),
        headers: JSON_HEADERS,
      }),
  },
  'receiver outbox': { ...onStores, ...withoutStores },
  'processor validation': {},
  'processor filter': { config: { logs: ['log.severity == "debug"'] }, drops: true },
  'processor rate_limit': {
    config: { items_per_second: 1_000_000, burst: 1_000_000 },
  },
  'processor sample': { drops: true },
  'processor transform': { config: { spans: [{ set: { name: '"changed"' } }] } },
  'processor resource': { config: { rules: [{ set: { 'deployment.environment.name': '"test"' } }] } },
  'processor redact': { config: { builtin: ['email'] } },
  'processor success_from': { config: { score: 'helpfulness' } },
  'processor quota': { ...onStores, ...withoutStores },
  'processor cost': {},
  'processor service_map': {},
  // Each batch waits for a commit.
  'exporter storage': { ...onStores, ...withoutStores, patienceMs: 60_000 },
  'exporter webhook': { ...onStores, ...withoutStores },
  'exporter alerts': { ...onStores, ...withoutStores },
  'exporter evaluate': { ...onStores, ...withoutStores },
  'exporter otlp_http': { prepare: sink },
  'exporter http': {
    signals: ['traces'],
    prepare: async () => {
      const { config, tearDown } = await sink();
      const written = {
        url: config.endpoint,
        item: 'span',
        format: 'json_array',
        body: { name: '${{ span.name }}' },
        targets: { allow_cidrs: ['127.0.0.0/8'] },
      };
      return { config: written, tearDown };
    },
  },
  'exporter file': { prepare: () => ({ config: { path: join(folder, `${randomUUID()}.jsonl`) } }) },
  'exporter debug': {},
  'exporter balance': { config: { pipelines: ['traces/a', 'logs/a', 'traces/b', 'logs/b'] } },
  'exporter route': {
    config: { routes: [{ condition: 'true', pipelines: ['traces/a', 'metrics/a', 'logs/a'] }] },
  },
  'extension duckdb': {
    prepare: () => ({ config: { path: join(folder, `${randomUUID()}.duckdb`), reserve: 0 }, extensions }),
    unstartable: { ...withoutStores.unstartable, config: { path: join(folder, 'other.duckdb') } },
  },
  'extension sqlite': { prepare: () => ({ config: { path: join(folder, `${randomUUID()}.db`) } }) },
  // Needs a server: see `test/storage/control/postgres-extension.test.ts`.
  'extension postgres': null,
  // Needs a server: see `test/extensions/clickhouse/clickhouse-extension.test.ts`.
  'extension clickhouse': null,
  'extension query': { ...onStores, ...withoutStores },
  'extension health': {},
  // In a short path, because systems limit those of sockets.
  'extension tap': { prepare: () => ({ config: { socket: join(tmpdir(), `${randomUUID()}.sock`) } }) },
  // Needs embedded stores: see `test/transfer/backup.test.ts`.
  'extension backup': null,
  'extension ui': { extensions: { query: { isApi: true, endpoint: '127.0.0.1:4319' } } },
  'extension mcp': {
    extensions: { query: { isApi: true, endpoint: '127.0.0.1:4319', allowedOrigins: [] } },
    unstartable: { extensions: {}, error: /no extension/ },
  },
};

for (const factory of builtinFactories) {
  const name = `${factory.kind} ${factory.type}`;
  void t.test(name, async (t) => {
    const subject = SUBJECTS[name];
    if (subject === null) return;
    if (!subject) throw new Error(`say in this file what ${name} needs`);
    for (const check of conformance(factory, subject))
      await t.test(check.name, async () => {
        await check.run();
      });
  });
}
