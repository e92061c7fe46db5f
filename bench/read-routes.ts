import { randomBytes, randomUUID } from 'node:crypto';
import type { Api } from './api.js';
import type { StoreContents } from './filled-store.js';
import { PROMPT } from './prompt-calls.js';
import type { SampledTrace } from './load-plan.js';
import { FREQUENT_WORD, RARE_WORD } from './otlp-logs-template.js';
import { READ_METRIC } from './otlp-metrics-template.js';

/** A read route to measure. */
export interface ReadRoute {
  readonly name: string;
  /** Returns the path of request number n (from 0), below `/api/v1`. */
  readonly path: (request: number) => string;
  /** Goal of p50 in milliseconds, alone, with 10 million spans. */
  readonly targetMs?: number;
}

/** Lists of runs by their spans, in an order in which matches are spread over the store. */
const SPAN_LISTS: readonly (readonly [name: string, query: string])[] = [
  ['traces of a model, longest', 'model=gpt-5-mini&sort=duration_ms'],
  ['traces of a model, most expensive', 'model=gpt-5-mini&sort=total_cost_usd'],
  ['traces of a span name, longest', 'span_name=none&sort=duration_ms'],
];

/** Maximum ratio of p50 during ingestion to p50 alone. */
export const TARGET_RATIO = 3;

/** Returns the routes for the contents of a store. @throws Error if the store has too few items */
export async function readRoutes(
  kind: StoreContents['kind'],
  api: Api,
  samples: readonly SampledTrace[],
): Promise<readonly ReadRoute[]> {
  if (kind === 'metrics') return metricRoutes();
  if (kind === 'prompts') return promptRoutes();
  return kind === 'logs' ? logRoutes(api) : traceRoutes(api, samples);
}

/** Routes of one agent use the agent with the most runs. */
async function traceRoutes(api: Api, samples: readonly SampledTrace[]): Promise<readonly ReadRoute[]> {
  const agents = await api.agents();
  const [first, second] = [...agents].sort((a, b) => b.total_runs - a.total_runs);
  if (first === undefined || second === undefined) throw new Error('The store has fewer than two agents.');
  const agent = `/agents/${first.id}`;
  const compare = `/dashboard/traces/compare-agents?agent_a=${first.id}&agent_b=${second.id}`;
  return [
    {
      ...ofTraces(
        'trace detail',
        samples.map(({ traceId }) => traceId),
      ),
      targetMs: 15,
    },
    fixed('agents list', '/agents', 25),
    fixed('agent detail', agent),
    fixed('runs, page 1', `${agent}/runs?page=1`, 10),
    fixed('runs, page 500', `${agent}/runs?page=500`),
    fixed('runs, failed only', `${agent}/runs?status=failed`),
    fixed('stats 7d', `${agent}/stats?days=7`),
    fixed('stats 30d', `${agent}/stats?days=30`, 15),
    fixed('stats 90d', `${agent}/stats?days=90`),
    fixed('compare agents', compare, 100),
    fixed('traces list', '/dashboard/traces'),
    fixed('traces list, not counted', '/dashboard/traces?count=none', 100),
    fixed('traces list, with previews', '/dashboard/traces?count=none&page_size=50&previews=true', 100),
    fixed('traces list, longest first', '/dashboard/traces?count=none&sort=duration_ms', 100),
    fixed(
      'traces list, longest, previews',
      '/dashboard/traces?count=none&sort=duration_ms&page_size=50&previews=true',
    ),
    fixed('traces list, of a model', '/dashboard/traces?model=gpt-5-mini', 100),
    fixed('traces list, of an unknown model', '/dashboard/traces?model=none', 100),
    fixed('traces list, of a type and name', '/dashboard/traces?span_type=tool&span_name=none', 100),
    fixed('series 24h', '/dashboard/series', 100),
    fixed('series 30d', `/dashboard/series?start_time=${daysAgo(30)}`, 100),
    fixed('series 30d by agent', `/dashboard/series?start_time=${daysAgo(30)}&group_by=agent`, 100),
    fixed(
      'series 30d by model',
      `/dashboard/series?start_time=${daysAgo(30)}&group_by=model&interval=1d`,
      100,
    ),
    fixed('series of an agent, 30d', `/dashboard/series?start_time=${daysAgo(30)}&agent_id=${first.id}`, 100),
    fixed(
      'series 7d by agent, hours',
      `/dashboard/series?start_time=${daysAgo(7)}&group_by=agent&interval=1h`,
      100,
    ),
    fixed('series 30d by status', `/dashboard/series?start_time=${daysAgo(30)}&group_by=status`, 100),
    fixed('sessions', '/dashboard/sessions?kind=all', 100),
    fixed('traces list, query', '/dashboard/traces?query=timed%20out', 60),
    fixed('traces list, query with many hits', '/dashboard/traces?query=content%20filter'),
    fixed('service map 24h', '/dashboard/service-map/', 20),
    fixed('service map, all', '/dashboard/service-map/?hours=0', 50),
    fixed('service map, hours', '/dashboard/service-map/hours', 50),
    fixed('service map, 60 days by time', `/dashboard/service-map/?start_time=${daysAgo(60)}`, 100),
    fixed('service map, hours of 60 days', '/dashboard/service-map/hours?hours=1440', 100),
    ...SPAN_LISTS.map(([name, query]) => fixed(name, `/dashboard/traces?count=none&${query}`, 100)),
    fixed('models', '/dashboard/models'),
    fixed('models, 1 day', `/dashboard/models?start_time=${daysAgo(1)}`),
    fixed('models of an agent', `/dashboard/models?agent_id=${first.id}`),
    fixed('daemon', '/daemon', 10),
    fixed('daemon, configuration', '/daemon/config', 10),
    fixed('prices', '/dashboard/prices', 100),
    fixed('prices, 30 days', `/dashboard/prices?start_time=${daysAgo(30)}`, 100),
    fixed('models, 30 days', `/dashboard/models?start_time=${daysAgo(30)}`, 100),
    fixed(
      'models of an agent, 30 days',
      `/dashboard/models?agent_id=${first.id}&start_time=${daysAgo(30)}`,
      100,
    ),
    fixed(
      'what if, 30 days',
      `/dashboard/models/what-if?model=gpt-5-mini&as=gpt-5&start_time=${daysAgo(30)}`,
    ),
    fixed('what if, 1 day', `/dashboard/models/what-if?model=gpt-5-mini&as=gpt-5&start_time=${daysAgo(1)}`),
    fixed('what if, all', '/dashboard/models/what-if?model=gpt-5-mini&as=gpt-5'),
    fixed('usage by day', '/usage/daily', 100),
    fixed('rejections', '/dashboard/rejections', 100),
  ];
}

async function logRoutes(api: Api): Promise<readonly ReadRoute[]> {
  const search = '/dashboard/logs/search';
  const { items } = (await api.json(`${search}?limit=100&end_time=${daysAgo(15)}`)) as {
    readonly items: readonly {
      readonly id: string;
      readonly trace_id: string | null;
      readonly body: string;
    }[];
  };
  const ofTrace = items.find(({ trace_id }) => trace_id !== null);
  const withId = items.map(({ body }) => /\[([0-9a-f]{16})\]/.exec(body)?.[1]).find((id) => id !== undefined);
  if (!ofTrace || withId === undefined) throw new Error('The store has too few log records.');
  const { withLogs, withoutLogs } = await sendLoggedCalls(api);
  const day = `start_time=${daysAgo(15)}&end_time=${daysAgo(14)}`;
  return [
    fixed('log search, rare word', `${search}?query=${RARE_WORD}`, 300),
    fixed('log search, every tenth', `${search}?query=${FREQUENT_WORD}`, 500),
    fixed('log search, one request id', `${search}?query=${withId}`),
    fixed('log search, two words', `${search}?query=${FREQUENT_WORD}%20rejected`),
    fixed('log search, phrase', `${search}?query=%22nothing%20is%20left%22`),
    fixed('log search, every tenth, 1 day', `${search}?query=${FREQUENT_WORD}&${day}`),
    fixed('logs, newest', search),
    fixed('logs, errors of a service', `${search}?service_name=billing&severity=error`),
    fixed('logs of a trace', `${search}?trace_id=${ofTrace.trace_id ?? ''}`),
    fixed('logs, offset 100 000', `${search}?offset=100000`),
    fixed('logs, counted', `/dashboard/logs/facets?start_time=${daysAgo(60)}`),
    fixed('trace of a log', `/dashboard/logs/${ofTrace.id}/trace`),
    ofTraces('trace of 5 calls', withoutLogs),
    ofTraces('trace of 5 calls, messages in logs', withLogs),
  ];
}

function promptRoutes(): readonly ReadRoute[] {
  const prompt = `/dashboard/prompts/${encodeURIComponent(PROMPT.name)}`;
  return [
    fixed('prompt versions compared', `${prompt}/compare`, 60),
    fixed('prompt versions', `${prompt}/versions`),
    fixed('prompts', '/dashboard/prompts/'),
  ];
}

function metricRoutes(): readonly ReadRoute[] {
  const query = `/dashboard/metrics/query?name=${READ_METRIC}&limit=1000`;
  const labels = encodeURIComponent(
    JSON.stringify({ service_name: 'billing', 'http.request.method': 'GET' }),
  );
  return [
    fixed('metrics list', '/dashboard/metrics/'),
    fixed('metric, 1000 points', query, 15),
    fixed('metric, 1000 points, a day', `${query}&start_time=${daysAgo(15)}&end_time=${daysAgo(14)}`),
    fixed('metric, 1000 points, by labels', `${query}&labels=${labels}`),
    fixed(
      'metric, series of a day',
      `/dashboard/metrics/series?name=${READ_METRIC}&start_time=${daysAgo(15)}&end_time=${daysAgo(14)}`,
    ),
    fixed('metric, labels', `/dashboard/metrics/labels?name=${READ_METRIC}&start_time=${daysAgo(15)}`),
    fixed('metric, 10 000 points', `/dashboard/metrics/query?name=${READ_METRIC}&limit=10000`),
  ];
}

/** Reads a different trace in each request. */
function ofTraces(name: string, ids: readonly string[]): ReadRoute {
  return { name, path: (request) => `/dashboard/traces/${ids[request % ids.length] ?? ''}` };
}

function fixed(name: string, path: string, targetMs?: number): ReadRoute {
  return { name, path: () => path, ...(targetMs !== undefined && { targetMs }) };
}

function daysAgo(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString();
}

/** Number of runs of each kind. */
const LOGGED_RUNS = 200;
const CALLS_PER_RUN = 5;

/** Ids of equal runs with and without messages in log records. */
interface RunIds {
  readonly withLogs: readonly string[];
  readonly withoutLogs: readonly string[];
}

/** Sends runs by OTLP like OpenTelemetry's instrumentation of OpenAI, which sends messages as log records. */
async function sendLoggedCalls(api: Api): Promise<RunIds> {
  const [withLogs, withoutLogs] = [[], []] as [string[], string[]];
  for (let i = 0; i < 2 * LOGGED_RUNS; i++) {
    const uuid = randomUUID();
    const traceId = uuid.replaceAll('-', '');
    const spanIds = Array.from({ length: CALLS_PER_RUN }, () => randomBytes(8).toString('hex'));
    const nanos = BigInt(Date.now()) * 1_000_000n;
    await api.post('/otlp/v1/traces', tracesOf(traceId, spanIds, nanos));
    const isLogged = i % 2 === 0;
    if (isLogged) await api.post('/otlp/v1/logs', logsOf(traceId, spanIds, nanos));
    (isLogged ? withLogs : withoutLogs).push(uuid);
  }
  return { withLogs, withoutLogs };
}

function tracesOf(traceId: string, spanIds: readonly string[], nanos: bigint): object {
  const spans = spanIds.map((spanId, i) => ({
    traceId,
    spanId,
    parentSpanId: i === 0 ? '' : spanIds[0],
    name: 'chat gpt-4o-mini',
    kind: 3,
    startTimeUnixNano: `${nanos + BigInt(i)}`,
    endTimeUnixNano: `${nanos + 1_000_000_000n}`,
    attributes: [
      textAttribute('gen_ai.operation.name', 'chat'),
      textAttribute('gen_ai.request.model', 'gpt-4o-mini'),
      { key: 'gen_ai.usage.input_tokens', value: { intValue: '120' } },
      { key: 'gen_ai.usage.output_tokens', value: { intValue: '45' } },
    ],
  }));
  return { resourceSpans: [{ resource: RESOURCE, scopeSpans: [{ spans }] }] };
}

function logsOf(traceId: string, spanIds: readonly string[], nanos: bigint): object {
  const logRecords = spanIds.flatMap((spanId) =>
    MESSAGES.map(({ name, values }, i) => ({
      traceId,
      spanId,
      timeUnixNano: `${nanos + BigInt(i)}`,
      attributes: [textAttribute('event.name', name)],
      body: { kvlistValue: { values } },
    })),
  );
  return { resourceLogs: [{ resource: RESOURCE, scopeLogs: [{ logRecords }] }] };
}

const MESSAGES = [
  { name: 'gen_ai.system.message', values: [textAttribute('content', 'Answer in one sentence.')] },
  {
    name: 'gen_ai.user.message',
    values: [textAttribute('content', 'What is the weather like in Berlin today? '.repeat(5))],
  },
  {
    name: 'gen_ai.choice',
    values: [{ key: 'message', value: { kvlistValue: { values: [textAttribute('content', 'Sunny.')] } } }],
  },
];

const RESOURCE = { attributes: [textAttribute('service.name', 'bench')] };

function textAttribute(key: string, value: string): object {
  return { key, value: { stringValue: value } };
}
