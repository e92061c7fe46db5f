import { GROUP_FIELDS } from '../../src/storage/contracts/run-groups.js';
import type { ApiCaller } from './api-caller.js';
import type { DocumentedApi, DocumentedOperation, OpenApiDocument } from './documented-api.js';

/** A read route with the values of its path parameters. */
export interface ReadQuestion {
  /** As documented: `/agents/{agent_id}`, below `/api/v1`. */
  readonly path: string;
  readonly operation: DocumentedOperation;
  readonly place: string;
  /** The queries to send, each alone; the first is empty. */
  readonly queries: readonly string[];
}

/** Ids from lists, by the path parameter that takes them, or by `prompts/{name}` if a parameter has several meanings. */
type Ids = Readonly<Record<string, readonly string[]>>;

/** Default number of ids per kind. */
const MOST_IDS = 12;

/**
 * Requests for every read route: for all listed objects and with several queries. New routes are included if their parameters are known
 * here.
 */
export async function readQuestions(
  api: ApiCaller,
  { document }: Pick<DocumentedApi, 'document'>,
  { key = api.adminKey, mostIds = MOST_IDS }: { readonly key?: string; readonly mostIds?: number } = {},
): Promise<readonly ReadQuestion[]> {
  const ids = await idsOf(api, key, mostIds);
  return Object.entries(document.paths).flatMap(([documented, { get: operation }]) => {
    if (operation === undefined) return [];
    const path = documented.replace('/api/v1', '');
    const queries = queriesOf(operation.operationId, ids);
    return placesOf(path, ids).map((place) => ({ path, operation, place, queries }));
  });
}

/** Routes that return the state of the process, the time or rejections, not stored data. */
const NOT_STORED = new Set([
  '/openapi.json',
  '/daemon',
  '/daemon/config',
  '/dashboard/stream',
  '/dashboard/rejections',
  // Actions are stored shortly after their responses.
  '/admin/audit',
  // Only a daemon with the ui extension has it.
  '/me/sessions',
]);

/** Allowed differences between the responses of two stores. */
interface Except {
  /** Paths of operations to skip, as documented. */
  readonly paths?: readonly string[];
  /** Fields to ignore everywhere. */
  readonly fields?: readonly string[];
}

/** The responses to {@link readQuestions} by path. */
export async function everyAnswer(
  api: ApiCaller,
  except: Except = {},
): Promise<ReadonlyMap<string, unknown>> {
  const document = await api.get<OpenApiDocument>('/openapi.json');
  const answers = new Map<string, unknown>();
  for (const { path, place, queries } of await readQuestions(api, { document })) {
    if (NOT_STORED.has(path) || except.paths?.includes(`/api/v1${path}`) === true) continue;
    for (const query of queries) {
      const asked = `${place}?${query}`;
      const { status, body } = await api.call('GET', asked);
      answers.set(asked, { status, body: comparable(body, [...VOLATILE, ...(except.fields ?? [])]) });
    }
  }
  return answers;
}

/** Written occasionally, specific to the caller, or measured differently by each store. */
const VOLATILE = [
  ...['last_used_at', 'next_cursor', 'seq', 'stored_bytes'],
  // Searches have a time limit.
  ...['searched_back_to', 'runs_searched_back_to'],
];

/** Some of the differences between two sets of responses. */
export function differences(
  one: ReadonlyMap<string, unknown>,
  other: ReadonlyMap<string, unknown>,
): readonly string[] {
  const paths = new Set([...one.keys(), ...other.keys()]);
  return [...paths].flatMap((path) => {
    const textIn = (answers: ReadonlyMap<string, unknown>): string =>
      answers.has(path) ? JSON.stringify(answers.get(path)) : 'not asked';
    const [a, b] = [textIn(one), textIn(other)];
    if (a === b) return [];
    let at = 0;
    while (a[at] === b[at]) at++;
    const near = (text: string): string => text.slice(Math.max(0, at - 150), at + 150);
    return [`${path}\n  ${near(a)}\n  ${near(b)}`];
  });
}

async function idsOf(api: ApiCaller, key: string, most: number): Promise<Ids> {
  const items = async (path: string): Promise<readonly Readonly<Record<string, unknown>>[]> => {
    const { body } = await api.call('GET', path, { key });
    const list = Array.isArray(body) ? body : ((body as { items?: unknown[] } | undefined)?.items ?? []);
    return list as Readonly<Record<string, unknown>>[];
  };
  const pick = (rows: readonly Readonly<Record<string, unknown>>[], name: string): readonly string[] =>
    // Clients remove dot segments from paths.
    [...new Set(rows.map((row) => row[name]).filter((value) => typeof value === 'string'))]
      .filter((value) => !/^\.{0,2}$/.test(value))
      .slice(0, most);
  const runs = [
    ...(await items('/dashboard/traces?page_size=100')),
    ...(await items('/dashboard/traces?page_size=100&status=running')),
  ];
  const traces = pick(runs, 'trace_id');
  const [first = ''] = traces;
  const spans = await items(`/dashboard/traces/${first}/spans`);
  const orgs = await items('/admin/orgs');
  const endpoints = await items('/org/default/webhooks/endpoints');
  const deliveries = await items('/org/default/webhooks/deliveries');
  return {
    trace_id: traces,
    span_id: pick(spans, 'span_id'),
    agent_id: pick(await items('/agents'), 'id'),
    log_id: pick(await items('/dashboard/logs/search?limit=100'), 'id'),
    'prompts/{name}': pick(await items('/dashboard/prompts'), 'name'),
    label: ['production'],
    metric: pick(await items('/dashboard/metrics'), 'name'),
    session_id: pick(await items('/dashboard/sessions'), 'session_id'),
    slug: pick(orgs, 'slug'),
    org_slug: pick(orgs, 'slug'),
    alert_id: pick(await items('/alerts'), 'id'),
    endpoint_id: pick(endpoints, 'id'),
    delivery_id: pick(deliveries, 'id'),
  };
}

function placesOf(path: string, ids: Ids): readonly string[] {
  const [inFolder, parameter, name = ''] = /[\w-]+\/(\{(\w+)\})/.exec(path) ?? [];
  if (inFolder === undefined || parameter === undefined) return [path];
  const known = ids[name] ?? ids[inFolder];
  if (known === undefined)
    throw new Error(
      `say in test/support/every-answer.ts where the values of ${parameter} in ${path} come from`,
    );
  // The spans belong to the first trace.
  const values = name === 'trace_id' && path.includes('{span_id}') ? known.slice(0, 1) : known;
  return values.flatMap((value) => placesOf(path.replace(parameter, encodeURIComponent(value)), ids));
}

const ALL_TIME = 'start_time=2026-10-01T00:00:00Z&end_time=2026-12-01T00:00:00Z';

/** The queries with which each operation returns the most. */
function queriesOf(operation: string, ids: Ids): readonly string[] {
  const [a = ''] = ids['agent_id'] ?? [];
  const more: Readonly<Record<string, readonly string[]>> = {
    listTraces: [
      'page_size=100',
      `page_size=100&${ALL_TIME}`,
      'status=failed&page_size=100',
      'sort=cost',
      'query=a*',
      'attribute.none!=x',
      'scores=true&score=Relevance%3E0&score=!tone&page_size=100',
    ],
    readScores: ['by=agent', 'by=model', 'by=environment', `interval=auto&${ALL_TIME}`],
    searchTrace: ['query=a*'],
    searchAll: ['query=a'],
    listAgents: [ALL_TIME],
    listModels: ['performance=true'],
    readRunGroups: GROUP_FIELDS.map((field) => `group_by=${field}&limit=3&${ALL_TIME}`),
    readSearchSeries: ['query=a*&start_time=2000-01-01T00:00:00Z'],
    listRunValues: ['field=metadata', 'field=tag', 'field=environment'],
    compareAgents: (ids['agent_id'] ?? []).map((b) => `agent_a=${a}&agent_b=${b}`),
    queryMetric: (ids['metric'] ?? []).map((name) => `details=true&name=${encodeURIComponent(name)}`),
    readMetricSeries: (ids['metric'] ?? []).map((name) => `name=${encodeURIComponent(name)}`),
    readAgentStats: ['days=30', 'days=90'],
    searchLogs: ['details=true&limit=100', 'query=text&limit=100'],
    readServiceMap: [ALL_TIME],
    readDailyUsage: ['days=30'],
    readPrompt: ['label=latest', 'session_id=a'],
    listPromptLabelMoves: ['label=production'],
  };
  const queries = more[operation] ?? [];
  // By default, this one responds with a time of the clock.
  return operation === 'readSearchSeries' ? queries : ['', ...queries];
}

/** Floating-point sums depend on the order of addition in their last digits. */
const DIGITS = 13;

function comparable(body: unknown, fields: readonly string[]): unknown {
  if (Array.isArray(body)) return body.map((one) => comparable(one, fields));
  if (typeof body === 'number' && !Number.isInteger(body)) return Number(body.toPrecision(DIGITS));
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(
    Object.entries(body)
      .filter(([name]) => !fields.includes(name))
      .map(([name, value]) => [name, comparable(value, fields)]),
  );
}
