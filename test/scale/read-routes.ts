import type { ApiCaller } from '../support/api-caller.js';
import type { OpenApiDocument } from '../support/documented-api.js';
import { readQuestions } from '../support/every-answer.js';
import { AGENTS, MODELS, PROMPT, SESSIONS } from './histories.js';
import { METRICS } from './some-metrics.js';

/** The values a user's queries use. */
export interface Asked {
  /** Agent ids by name on the queried side. */
  readonly agents: ReadonlyMap<string, string>;
  /** Log record ids on the queried side. */
  readonly logIds: readonly string[];
  readonly traceIds: readonly string[];
  readonly spanIds: readonly string[];
  /** ISO 8601; runs are before and after it. */
  readonly noon: string;
  /** ISO 8601; after all logs. */
  readonly end: string;
}

/** A route with its queries. */
interface Asking {
  readonly path: string;
  readonly queries: (asked: Asked) => readonly string[];
}

const plain = (...paths: readonly string[]): Asking[] =>
  paths.map((path) => ({ path, queries: () => [path] }));
const ofTraces = (path: string, more = ''): Asking => ({
  path,
  queries: ({ traceIds }) => traceIds.map((id) => `${path.replace('{trace_id}', id)}${more}`),
});
const ofAgents = (path: string, more = ''): Asking => ({
  path,
  queries: ({ agents }) => [...agents.values()].map((id) => `${path.replace('{agent_id}', id)}${more}`),
});
const withQueries = (path: string, queries: (asked: Asked) => readonly string[]): Asking => ({
  path,
  queries: (asked) => queries(asked).map((query) => `${path}?${query}`),
});

/** Queries of the routes that read telemetry. Other routes use `readQuestions`. */
const ASKED: readonly Asking[] = [
  ...plain(
    '/agents',
    '/dashboard/models',
    '/dashboard/sessions',
    '/dashboard/service-map/',
    '/usage',
    '/usage/daily',
  ),
  ...plain(
    '/dashboard/prompts/',
    '/dashboard/prompts/names',
    '/dashboard/service-map/hours',
    '/dashboard/prices',
  ),
  ofAgents('/agents/{agent_id}'),
  ofAgents('/agents/{agent_id}', '?estimate=true'),
  ofAgents('/agents/{agent_id}/runs'),
  ofAgents('/agents/{agent_id}/stats', '?days=60'),
  ofAgents('/agents/{agent_id}/stats', '?estimate=true'),
  withQueries('/dashboard/traces', (asked) => [
    ...[
      '',
      'page=2&page_size=3',
      'status=failed',
      'success=true',
      'kind=all',
      'query=broke',
      'previews=true&kind=all',
    ],
    ...[
      'sort=cost',
      'sort=duration&order=asc',
      'min_duration_ms=1000',
      'max_cost=1',
      'tag=paid',
      'user_id=ann',
    ],
    ...['span_type=llm', `model=${encodeURIComponent(MODELS[1])}`, 'span_name=plan', `prompt_name=${PROMPT}`],
    ...[`end_time=${asked.noon}`, `start_time=${asked.noon}`],
    `session_id=${encodeURIComponent(SESSIONS[0])}`,
  ]),
  withQueries('/dashboard/logs/search', ({ traceIds }) => [
    ...[
      '',
      'limit=3&offset=2',
      'query=DECLINED',
      'severity=error',
      'service_name=shop',
      'q=größe&details=true',
    ],
    `trace_id=${traceIds[0] ?? ''}`,
  ]),
  withQueries('/dashboard/logs/facets', ({ noon, end }) =>
    ['', 'query=payment', 'severity=error'].map((query) => `${query}&start_time=${noon}&end_time=${end}`),
  ),
  {
    path: '/dashboard/logs/{log_id}/trace',
    queries: ({ logIds }) => logIds.map((id) => `/dashboard/logs/${id}/trace`),
  },
  ...plain('/dashboard/metrics/'),
  withQueries('/dashboard/metrics/query', ({ noon }) => [
    ...[
      'name=queue.size',
      'name=queue.size&limit=3&details=true',
      'name=requests',
      'name=latency&details=true',
    ],
    ...['name=unknown', `name=queue.size&start_time=${noon}`, 'name=queue.size&labels={"region":"eu"}'],
  ]),
  withQueries('/dashboard/metrics/labels', () => METRICS.map((name) => `name=${name}`)),
  withQueries('/dashboard/metrics/series', ({ noon, end }) =>
    METRICS.flatMap((name) =>
      ['', '&group_by=region', '&step=1m'].map(
        (more) => `name=${name}&start_time=${noon}&end_time=${end}${more}`,
      ),
    ),
  ),
  ofTraces('/dashboard/traces/{trace_id}'),
  ofTraces('/dashboard/traces/{trace_id}', '?include=metadata'),
  ofTraces('/dashboard/traces/{trace_id}/spans'),
  {
    path: '/dashboard/traces/{trace_id}/spans/{span_id}',
    queries: ({ traceIds, spanIds }) =>
      traceIds
        .slice(0, 1)
        .flatMap((trace) => spanIds.map((span) => `/dashboard/traces/${trace}/spans/${span}`)),
  },
  withQueries('/dashboard/traces/compare-agents', ({ agents }) => [
    `agent_a=${agents.get(AGENTS[0]) ?? ''}&agent_b=${agents.get(AGENTS[1]) ?? ''}`,
  ]),
  withQueries('/dashboard/series', ({ noon }) => [
    `start_time=${noon}`,
    `start_time=${noon}&group_by=agent`,
    `start_time=${noon}&group_by=model`,
  ]),
  withQueries('/dashboard/models/what-if', () => [`model=${encodeURIComponent(MODELS[0])}&as=gpt-4o-mini`]),
  {
    path: '/dashboard/sessions/{session_id}',
    queries: () => SESSIONS.map((id) => `/dashboard/sessions/${encodeURIComponent(id)}`),
  },
  withQueries('/dashboard/service-map/', ({ noon }) => ['hours=1000', `start_time=${noon}`]),
  ...['versions', 'compare'].map((what) => ({
    path: `/dashboard/prompts/{name}/${what}`,
    queries: () => [`/dashboard/prompts/${PROMPT}/${what}`],
  })),
];

/** Other read routes: their data is in the control store or about the daemon, or they stream forever. */
const NOT_ASKED = [
  '/me/alert-secret',
  '/admin/audit',
  '/me/sessions',
  ...['/alerts', '/alerts/{alert_id}', '/alerts/{alert_id}/events', '/dashboard/alert-events'],
  ...[
    '/me',
    '/me/keys',
    '/dashboard/views',
    '/dashboard/rejections',
    '/daemon',
    '/daemon/config',
    '/openapi.json',
  ],
  ...[
    '/admin/users',
    '/admin/export',
    '/admin/keys',
    '/admin/orgs',
    '/admin/orgs/{slug}/members',
    '/dashboard/stream',
  ],
  ...['/org/{org_slug}/webhooks/endpoints', '/org/{org_slug}/webhooks/endpoints/{endpoint_id}/deliveries'],
  ...['/org/{org_slug}/webhooks/deliveries', '/org/{org_slug}/webhooks/deliveries/{delivery_id}'],
];

const SAID = new Set([...ASKED.map(({ path }) => path), ...NOT_ASKED]);

/** @returns the responses of a daemon in query order */
export async function answersOf(
  apis: readonly ApiCaller[],
  key: string,
  asked: Omit<Asked, 'agents' | 'logIds'>,
): Promise<readonly { readonly question: string; readonly status: number; readonly body: unknown }[]> {
  const [first] = apis;
  if (first === undefined) throw new Error('nobody to ask');
  const agents = await first.get<readonly { readonly id: string; readonly name: string }[]>('/agents', key);
  const logs = await first.get<{ readonly items: readonly { readonly id: string }[] }>(
    '/dashboard/logs/search?limit=5',
    key,
  );
  const logIds = logs.items.map(({ id }) => id);
  const byName = new Map(agents.map(({ id, name }) => [name, id]));
  const answers = [];
  for (const { path, queries } of ASKED)
    for (const [i, question] of queries({ ...asked, agents: byName, logIds }).entries()) {
      const { status, body } = await (apis[i % apis.length] ?? first).call('GET', question, { key });
      answers.push({ question: `${path} ${i}`, status, body });
    }
  const document = await first.get<OpenApiDocument>('/openapi.json');
  const others = (await readQuestions(first, { document }, { key })).filter(({ path }) => !SAID.has(path));
  for (const { path, place, queries } of others)
    for (const query of queries) {
      const { status, body } = await (apis[answers.length % apis.length] ?? first).call(
        'GET',
        `${place}?${query}`,
        { key },
      );
      answers.push({ question: `${path}?${query}`, status, body });
    }
  return answers;
}
