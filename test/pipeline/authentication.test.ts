import t from 'tap';
import type { ReceiverFactory } from '../../src/component/factory.js';
import { section } from '../../src/config/schema.js';
import { startTestDaemon } from '../support/daemon.js';
import { startEngine } from '../support/engine.js';
import { EngineComponents } from '../support/engine-components.js';

const statusOf = async (url: string, key?: string): Promise<number> => {
  const response = await fetch(url, key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } });
  await response.body?.cancel();
  return response.status;
};

void t.test('everything under /api/v1 requires a key, including unknown paths', async (t) => {
  const { url, key } = await startTestDaemon(t);
  t.equal(await statusOf(`${url}/api/v1/agents`), 401);
  t.equal(await statusOf(`${url}/api/v1/no/such/route`), 401);
  t.equal(await statusOf(`${url}/api/v1/agents`, key), 200);
  t.equal(await statusOf(`${url}/api/v1/no/such/route`, key), 404);
  t.equal(await statusOf(`${url}/api/v1/openapi.json`), 200, 'the public route');
});

void t.test('with auth.enabled: false everyone is the first user', async (t) => {
  const { url, daemon, logs } = await startTestDaemon(t, { overlay: 'auth: { enabled: false }' });
  t.equal(await statusOf(`${url}/api/v1/agents`), 200);
  t.equal(daemon.initialKeyFile, null);
  t.match(logs.join('\n'), /Authentication is off/);
});

void t.test('an API without a control store for keys does not start', async (t) => {
  const schema = section({});
  const receiver: ReceiverFactory<typeof schema> = {
    kind: 'receiver',
    type: 'api',
    description: 'Has a route.',
    stability: 'development',
    signals: ['traces'],
    configSchema: schema,
    create: () => ({
      async start(host) {
        host
          .listener('127.0.0.1:0')
          .route({ method: 'GET', path: '/api/v1/x', handle: () => ({ status: 204 }) });
      },
    }),
  };
  const config = `receivers: { api: {} }
exporters: { sink: {} }
service: { pipelines: { traces: { receivers: [api], exporters: [sink] } } }
`;
  const factories = [...new EngineComponents().factories, receiver];
  await t.rejects(startEngine(t, { config, factories }), /needs a control store/);
});
