import { randomUUID } from 'node:crypto';
import t from 'tap';
import { generateKey } from '../../../src/auth/keys.js';
import { ApiCaller } from '../../support/api-caller.js';
import { ClickHouseServer } from '../../support/clickhouse-server.js';
import { startTestDaemon } from '../../support/daemon.js';
import { gaugeRequest } from '../../support/gauge-request.js';
import { PostgresServer } from '../../support/postgres.js';
import { testFolder } from '../../support/test-folder.js';
import { until } from '../../support/until.js';

const START = '2026-01-15T12:00:00Z';

function overlay({ url, password }: ClickHouseServer, database: string): string {
  return `
extensions:
  clickhouse: { urls: ['${url}'], database: ${database}, password: ${password}, control: postgres }
  query: { store: clickhouse }
exporters:
  storage: { store: clickhouse }
  alerts: { store: clickhouse }
processors:
  quota: { store: clickhouse, monthly_events: 1000 }
service:
  extensions: [postgres, clickhouse, query, health]
`;
}

const OVERLOADED = {
  operator: 'or',
  conditions: [
    { type: 'failure_rate', source: 'ai', threshold: 0.5 },
    { type: 'metric_threshold', source: 'infra', metric_name: 'queue', operator: 'gte', value: 10 },
  ],
};

function evaluates({ logs }: { readonly logs: readonly string[] }): boolean {
  return logs.some((line) => line.includes('This daemon now evaluates alerts'));
}

async function addAlert(api: ApiCaller): Promise<string> {
  const [agent] = await api.get<readonly { readonly id: string }[]>('/agents');
  const json = { agent_id: agent?.id, type: 'composite', composite_config: OVERLOADED };
  const { status, body } = await api.call('POST', '/alerts', { json });
  if (status !== 201) throw new Error(JSON.stringify(body));
  return (body as { readonly id: string }).id;
}

async function firings(api: ApiCaller, alert: string): Promise<number> {
  return (await api.get<{ readonly count: number }>(`/alerts/${alert}/events`)).count;
}

const CALLED = '5b8efff798038103d269b633813fc60c';
const CALLED_ID = '5b8efff7-9803-8103-d269-b633813fc60c';

/** A log record with the output of a model call. */
function aChoice(spanId: string, stringValue: string): object {
  const content = { key: 'content', value: { stringValue } };
  const message = { key: 'message', value: { kvlistValue: { values: [content] } } };
  return {
    ...{ timeUnixNano: '1700000000500000000', eventName: 'gen_ai.choice', traceId: CALLED, spanId },
    body: { kvlistValue: { values: [message] } },
  };
}

const server = await ClickHouseServer.start(t);
const postgres = await PostgresServer.start(t);
const skip = [server, postgres].find((started) => typeof started === 'string') ?? false;

void t.test(
  'two daemons sharing ClickHouse and PostgreSQL return the same data',
  { skip: typeof skip === 'string' ? skip : false },
  async (t) => {
    if (typeof server === 'string' || typeof postgres === 'string') return;
    const [database, control] = [server.newDatabase(), await postgres.createDatabase()];
    const key = generateKey();
    const folder = testFolder(t);
    const start = async (name: string) => {
      const started = await startTestDaemon(t, {
        directory: `${folder}/${name}`,
        key,
        postgres: control,
        overlay: overlay(server, database),
      });
      return { ...started, api: new ApiCaller(started.url, key) };
    };
    const one = await start('one');
    const two = await start('two');

    const traceIds = Array.from({ length: 6 }, () => randomUUID());
    const spanIds = new Map(traceIds.map((id) => [id, Array.from({ length: 4 }, () => randomUUID())]));
    const part = (from: number, to: number) => ({
      traces: traceIds.map((trace_id) => ({
        trace: {
          trace_id,
          agent: 'planner',
          status: to === 4 ? 'completed' : 'running',
          started_at: START,
          ...(to === 4 ? { ended_at: '2026-01-15T12:00:02Z' } : {}),
        },
        spans: (spanIds.get(trace_id) ?? []).slice(from, to).map((span_id, i) => ({
          span_id,
          trace_id,
          type: 'llm',
          name: `step ${String(from + i)}`,
          status: 'completed',
          started_at: START,
          ended_at: '2026-01-15T12:00:01Z',
          model: 'm',
          input_tokens: 2,
          output_tokens: 1,
          cost_usd: '0.001000',
          input_data: { at: from + i },
        })),
      })),
    });
    // The parts overlap and are sent to both concurrently.
    const answers = await Promise.all(
      [part(0, 2), part(1, 3), part(0, 1), part(2, 4)].map((batch, i) =>
        (i % 2 === 0 ? one : two).api.call('POST', '/traces/batch', { json: batch }),
      ),
    );
    t.strictSame(
      answers.map(({ status }) => status),
      [200, 200, 200, 200],
    );
    const routes = [
      '/agents',
      '/dashboard/traces',
      ...traceIds.map((id) => `/dashboard/traces/${id}`),
      '/dashboard/models',
      '/dashboard/service-map/',
      '/usage',
    ];
    t.match(
      answers.map(({ body }) => body),
      answers.map(() => ({ accepted: 6, rejected: 0 })),
    );
    for (const route of routes) {
      const [a, b] = [await one.api.call('GET', route), await two.api.call('GET', route)];
      t.equal(a.status, 200, route);
      t.strictSame(a.body, b.body, route);
    }
    t.match(await two.api.get('/agents'), [{ name: 'planner', total_runs: 6 }]);
    t.match(await one.api.get(`/dashboard/traces/${traceIds[0] ?? ''}`), {
      status: 'completed',
      total_tokens: 12,
      spans: [{}, {}, {}, {}],
    });
    t.match(await one.api.get('/usage'), { used: 24 }, 'each span once');

    // Log records are joined to their span regardless of order and daemon.
    const call = (spanId: string) => ({
      ...{ traceId: CALLED, spanId, name: 'chat', kind: 3 },
      ...{ startTimeUnixNano: '1700000000000000000', endTimeUnixNano: '1700000001000000000' },
    });
    const send = async (api: ApiCaller, signal: 'traces' | 'logs', json: object): Promise<void> => {
      const { status, body } = await api.call('POST', `/otlp/v1/${signal}`, { json });
      if (status !== 200) throw new Error(JSON.stringify(body));
    };
    const spans = (...ids: readonly string[]): object => ({
      resourceSpans: [{ scopeSpans: [{ spans: ids.map(call) }] }],
    });
    const attribute = (spanId: string, stringValue: string): object => ({
      resourceLogs: [{ scopeLogs: [{ logRecords: [aChoice(spanId, stringValue)] }] }],
    });
    await send(two.api, 'logs', attribute('00000000000000a1', 'before'));
    await send(one.api, 'traces', spans('00000000000000a1', '00000000000000a2'));
    await send(two.api, 'logs', attribute('00000000000000a2', 'behind'));
    for (const { api } of [one, two])
      t.match(
        await api.get(`/dashboard/traces/${CALLED_ID}`),
        { spans: ['before', 'behind'].map((content) => ({ output_data: { messages: [{ content }] } })) },
        'in both',
      );

    // One daemon evaluates the alerts, whichever received the data.
    await until('one evaluates', () => evaluates(one) || evaluates(two));
    t.notOk(evaluates(one) && evaluates(two));
    const other = evaluates(one) ? two : one;
    const alert = await addAlert(other.api);
    t.equal(await firings(other.api, alert), 0);
    const queue = { name: 'queue', value: 12, nanos: BigInt(Date.now()) * 1_000_000n, attributes: {} };
    const sent = await other.api.call('POST', '/otlp/v1/metrics', { json: gaugeRequest('shop', [queue]) });
    t.equal(sent.status, 200);
    await until('it fires', async () => (await firings(other.api, alert)) > 0);

    t.match([await one.api.get('/usage'), await two.api.get('/usage')], [{ limit: 1000 }, { limit: 1000 }]);
    await one.daemon.shutdown();
    t.match(
      await two.api.get('/usage'),
      { limit: 1000 },
      'the remaining daemon still publishes its settings',
    );
    const again = await start('one');
    await until('one of them evaluates', () => evaluates(two) || evaluates(again));
    const another = await addAlert(again.api);
    await until('it fires, too', async () => (await firings(two.api, another)) > 0);
    t.same([await firings(two.api, alert), await firings(two.api, another)], [1, 1]);
    t.match(await again.api.get('/agents'), [{ total_runs: 6 }], 'nothing buffered in the daemon');
    await server.kill();
    const lost = await two.api.call('POST', '/traces/batch', { json: part(0, 4) });
    t.equal(lost.status, 503);
    await server.resume();
    await until('it takes runs again', async () => {
      const { status } = await two.api.call('POST', '/traces/batch', { json: part(0, 4) });
      return status === 200;
    });
    t.match(await again.api.get('/usage'), { used: 26 }, 'repeats are free');
  },
);
