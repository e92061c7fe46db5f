import type { Test } from 'tap';
import { createAuthenticator } from '../../src/auth/authenticator.js';
import { generateKey } from '../../src/auth/keys.js';
import type { Host } from '../../src/component/host.js';
import type { Route } from '../../src/component/http.js';
import { queryExtension } from '../../src/extensions/query/factory.js';
import { createListener } from '../../src/http/listener.js';
import { traceBatchReceiver } from '../../src/receivers/trace-batch/factory.js';
import { ApiCaller } from './api-caller.js';
import { componentSettings } from './component-settings.js';
import { MemoryMetaStore } from './memory-meta-store.js';
import { MemoryTelemetryStore } from './memory-telemetry-store.js';

const ENDPOINT = '127.0.0.1:0';

export interface TestApi extends ApiCaller {
  readonly meta: MemoryMetaStore;
  readonly routes: readonly Route[];
}

/** The API on a real listener, over stores in memory. It ends with the test. */
export async function startApi(
  t: Test,
  options: { readonly allowedOrigins?: string[]; readonly authEnabled?: boolean } = {},
): Promise<TestApi> {
  const { logger, meter } = componentSettings('test');
  const clock = { now: () => Date.now() * 1000, after: () => () => undefined };
  const meta = new MemoryMetaStore(t.testdir());
  const telemetry = new MemoryTelemetryStore();
  const adminKey = generateKey();
  const config = {
    enabled: options.authEnabled ?? true,
    bootstrap_key: adminKey,
    bootstrap_email: 'admin@localhost',
  };
  const authenticator = await createAuthenticator({ metaStore: meta, config, clock, logger });
  const listener = createListener(ENDPOINT, { logger, meter, clock });
  listener.guard('/api/v1', (request) => {
    authenticator.authenticate(request);
  });
  const store = new Proxy(telemetry, {
    get: (target, name) => {
      const owner = name in target ? target : meta;
      const value: unknown = Reflect.get(owner, name);
      return typeof value === 'function' ? (value.bind(owner) as unknown) : value;
    },
    has: (target, name) => name in target || name in meta,
  });
  const host: Host = {
    extension: (id, isWanted) => {
      if (id === 'duckdb' && isWanted(store)) return store;
      throw new Error(`no extension ${id}`);
    },
    listener: (_, listenerOptions = {}) => {
      listener.configure(listenerOptions);
      return listener;
    },
    authenticate: (request, scope) => authenticator.authenticate(request, scope),
    reportStatus: () => undefined,
    health: () => {
      throw new Error('nobody asks');
    },
  };
  const components = [
    queryExtension.create({
      ...componentSettings('query'),
      clock,
      config: {
        endpoint: ENDPOINT,
        store: 'duckdb',
        cors: { allowed_origins: options.allowedOrigins ?? [] },
      },
    }),
    traceBatchReceiver.create({
      ...componentSettings('trace_batch'),
      clock,
      config: {
        endpoint: ENDPOINT,
        max_request_body_size: '16MiB',
        request_timeout: '30s',
        max_in_flight: { requests: 1024, bytes: '128MiB' },
      },
      outputs: { traces: { consume: (batch) => telemetry.writeTraces(batch) } },
    }),
  ];
  for (const component of components) await component.start?.(host);
  const { host: address, port } = await listener.open();
  t.teardown(async () => {
    const deadline = AbortSignal.timeout(5000);
    for (const component of components) await component.shutdown?.(deadline);
    await listener.close(deadline);
    await authenticator.close();
  });
  return Object.assign(new ApiCaller(`http://${address}:${port}`, adminKey), {
    meta,
    routes: listener.routes(),
  });
}
