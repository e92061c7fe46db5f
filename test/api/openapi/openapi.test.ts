import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import t from 'tap';
import { AUDIT_ACTIONS } from '../../../src/component/audit-actions.js';
import { invariant } from '../../../src/signal/checked.js';
import { startTestDaemon } from '../../support/daemon.js';
import { send } from '../../support/http-listener.js';
import { dueBy } from '../../support/due-notices.js';
import { logRequest } from '../../support/log-request.js';
import type { Answer, Call } from '../../support/api-caller.js';
import { FULL } from '../../support/otlp-full-requests.js';
import { jsonOf } from '../../support/otlp-requests.js';
import { startApi, type TestApi } from '../../support/api.js';
import { anEvent } from '../../support/event-records.js';
import { DocumentedApi, type OpenApiDocument } from '../../support/documented-api.js';
import { readQuestions } from '../../support/every-answer.js';
import { traceIdOf } from '../../support/header-text.js';
import { testFolder } from '../../support/test-folder.js';
import { projectFolder, readProjectFile } from '../../support/project-file.js';
import { START } from '../../support/otlp-requests.js';
import { anItem } from '../../support/trace-batch.js';
import { COMPOSITE, HOOK_URL, UNWATCHED } from '../../support/alert-calls.js';

/** Statuses that cannot be triggered; the listener tests their format. */
const NOT_ON_DEMAND = new Set(['408', '429', '431', '500', '503']);
/** Too slow to trigger (twenty thousand alerts, a thousand labels, a hundred keys or views), or endless (a stream); tested elsewhere. */
const TOO_LONG = new Set([
  'createAlert 409',
  'createMyKey 409',
  'putView 409',
  'movePromptLabel 409',
  'followChanges 200',
]);

void t.test('openapi.json is valid OpenAPI 3.1', async (t) => {
  const api = await startApi(t);
  const document = await api.get<Record<string, unknown>>('/openapi.json');
  const validator = new Validator();
  const result = await validator.validate(document);
  t.strictSame(result.errors ?? [], []);
  t.ok(result.valid);
  t.equal(validator.version, '3.1');
});

void t.test('openapi.json answers 304 if the ETag matches', async (t) => {
  const { url } = await startTestDaemon(t);
  const get = (headers: Readonly<Record<string, string>>) =>
    send(`${url}/api/v1/openapi.json`, { headers: { 'accept-encoding': 'br', ...headers } });
  const { status, headers } = await get({});
  t.equal(status, 200);
  t.match(headers, { etag: /^W\/"/, 'content-encoding': 'br', 'cache-control': 'no-cache' });
  const again = await get({ 'if-none-match': headers.etag ?? '' });
  t.match(again, { status: 304, body: '', headers: { etag: headers.etag } });
});

void t.test('every schema of a route is a JSON Schema', async (t) => {
  const api = await startApi(t);
  const ajv = new Ajv();
  for (const { operation } of api.routes) {
    if (!operation) continue;
    const { id, params, query, body, responses } = operation;
    for (const schema of [params, query, body, ...Object.values(responses)])
      if (schema) t.ok(ajv.validateSchema(schema), `${id}: ${ajv.errorsText()}`);
  }
});

void t.test('documents every route of the listener with its parameters and errors', async (t) => {
  const api = await startApi(t);
  const documented = new DocumentedApi(await api.get<OpenApiDocument>('/openapi.json'));
  const nameOf = (route: { readonly method: string; readonly path: string }) =>
    `${route.method} ${route.path}`;
  t.strictSame(documented.operations().map(nameOf).sort(), api.routes.map(nameOf).sort());
  const ids = documented.operations().map(({ operation }) => operation.operationId);
  t.equal(new Set(ids).size, ids.length, 'operation ids are unique');
  for (const { method, path, operation } of documented.operations()) {
    const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === 'path');
    t.strictSame(
      inPath.map(({ name, required }) => [name, required]).sort(),
      [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => [name, true]).sort(),
      `${method} ${path} describes its placeholders`,
    );
    const statuses = Object.keys(operation.responses);
    t.ok(statuses.includes('500') && statuses.includes('503'));
    t.ok(statuses.includes('401') || operation.security.length === 0);
    t.equal(statuses.includes('415'), operation.requestBody !== undefined);
    if (operation.operationId !== 'readOpenApi')
      t.notMatch(JSON.stringify(operation), '"properties"', 'every object is a component with a name');
  }
});

void t.test(
  'every route that changes data declares its audit actions or a reason for having none',
  async (t) => {
    const { routes } = await startApi(t);
    const declared = new Set<string>();
    for (const { method, operation } of routes) {
      const { id, audit } = invariant(operation, 'every route of the API has one');
      if (method !== 'GET') t.ok(audit, `${id} declares neither`);
      if (audit === undefined || 'none' in audit) continue;
      t.ok(audit.length > 0, id);
      for (const action of audit) declared.add(action);
    }
    t.strictSame([...declared].sort(), [...AUDIT_ACTIONS], 'every action belongs to a route');
  },
);

void t.test('every possible response matches its documented schema', async (t) => {
  const api = await startApi(t, UNWATCHED);
  const audited = new Map<string, Set<string>>();
  const documented = new DocumentedApi(await api.get<OpenApiDocument>('/openapi.json'));
  const check = async (operationId: string, place: Record<string, string>, call: Call = {}) => {
    const found = documented.operations().find(({ operation }) => operation.operationId === operationId);
    if (!found) throw new Error(`${operationId} is not documented`);
    const { query = '', ...params } = place;
    const path = found.path
      .replace('/api/v1', '')
      .replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? '');
    return await ask(found, path + query, call);
  };
  const ask = async (
    { method, operation }: ReturnType<DocumentedApi['operations']>[number],
    path: string,
    call: Call,
  ) => {
    const { operationId } = operation;
    const before = api.logs.length;
    const answer = await api.call(method, path, call);
    const actions = audited.get(operationId) ?? new Set();
    audited.set(operationId, actions);
    for (const line of api.logs.slice(before))
      for (const [, action = ''] of line.matchAll(/audit="(?!key\.refused)([^"]+)"/g)) actions.add(action);
    t.strictSame(
      documented.faults(operation, answer),
      [],
      `${operationId} ${answer.status}: ${JSON.stringify(answer.body ?? null).slice(0, 200)}`,
    );
    return answer;
  };
  await check('rotateAlertSecret', {});
  await check('readAlertSecret', {});
  await check('listAudit', {});

  await checkSuccesses(check);
  for (const { operation, place, queries } of await readQuestions(api, documented))
    for (const query of queries)
      await ask({ method: 'GET', path: place, operation }, `${place}?${query}`, {});
  await checkEndpoints(check);
  await checkDeliveries(api, check);
  await checkAlerts(api, check);
  await checkMetrics(api, check);
  await checkLogs(api, check);
  await checkQuota(api, check);
  await checkRebuild(documented, check);
  await checkReload(api, check);
  const exported = { json: { directory: join(testFolder(t), 'export') } };
  await check('readExport', {}, undefined);
  await check('exportData', {}, exported);
  await check('exportData', {}, exported);
  const folder = testFolder(t);
  await check('backUpData', {}, { json: { directory: join(folder, 'backups') } });
  await check('backUpData', {}, { json: { directory: folder } });
  await checkRefusals(api, documented, check);

  const documentedAnswers = documented.operations().flatMap(({ operation }) =>
    Object.keys(operation.responses)
      .filter((status) => !NOT_ON_DEMAND.has(status))
      .map((status) => `${operation.operationId} ${status}`),
  );
  t.strictSame(
    documentedAnswers.filter((name) => !documented.seen.has(name) && !TOO_LONG.has(name)),
    [],
    'every documented response was seen',
  );
  for (const { operation } of api.routes) {
    const { id, audit = [] } = invariant(operation, 'every route of the API has one');
    const declared = 'none' in audit ? [] : [...audit];
    t.strictSame([...(audited.get(id) ?? [])].sort(), declared.sort(), `the audit of ${id}`);
  }
});

/** The API's response for the span of {@link FULL}. */
const FULL_SPAN = {
  trace_id: '5b8efff7-9803-8103-d269-b633813fc60c',
  span_id: 'd269b633-813f-c60c-eee1-9b7ec3c1b174',
};

type Check = (id: string, place: Record<string, string>, call?: Call) => Promise<Answer>;

async function checkSuccesses(check: Check): Promise<void> {
  const full = anItem({ trace: { metadata: { session_id: 'ticket 47', tags: ['a'] } }, spans: 3 });
  const bare = anItem({ trace: { success: undefined, metadata: undefined, ended_at: undefined }, spans: 0 });
  const broken = anItem({ trace: { trace_id: 'x' } });
  await check('ingestTraces', {}, { json: { traces: [full, bare, broken] } });
  const trace_id = traceIdOf(full);
  const score = { trace_id, name: 'tone', value: 1, metadata: { by: 'test' } };
  await check(
    'sendScores',
    {},
    { json: { scores: [score, { session_id: 'ticket 47', name: 'solved', label: 'yes' }] } },
  );
  await check('readTrace', { trace_id });
  await check('readTrace', { trace_id: traceIdOf(bare) });
  await check('readTrace', { trace_id, query: '?include=metadata' });
  await check('readSpan', { trace_id, span_id: (full.spans[0]?.['span_id'] as string | undefined) ?? '' });
  await check('exportTraces', {}, { json: JSON.parse(jsonOf(FULL.traces)) as object });
  await check('readSpan', FULL_SPAN);
  await check('explainSpan', FULL_SPAN);
  await check('readSpan', { ...FULL_SPAN, query: '?max_bytes=1024' });
  await check('readTraceSpans', { trace_id });
  await check('readTraceSpans', { trace_id, query: '?after=1' });
  await check('setTraceOutcome', { trace_id }, { json: { success: true, outcome: 'x' } });
  await check('listTraces', {});
  await check('listTraces', { query: '?page=9&page_size=1&status=failed' });
  await check('listTraces', { query: '?page_size=1&count=none&sort=duration_ms' });
  await check('listTraces', { query: '?span_type=llm&previews=true' });
  await check('listTraces', { query: '?query=sky&previews=true' });
  await check('searchTrace', { trace_id, query: '?query=rayleigh' });
  await check('readSearchSeries', { query: '?query=sky' });
  await check('searchAll', { query: '?query=sky' });
  await check('listRunValues', { query: '?field=tag' });
  await check('listTraces', { query: '?environment!=x&metadata.plan~=p' });
  await check('listTraces', { query: '?attribute.plan!=p' });
  await check('listRunValues', { query: '?field=attribute' });
  const agents = (await check('listAgents', {})).body as readonly { readonly id: string }[];
  const agent_id = agents[0]?.id ?? '';
  await check('listAgents', { query: '?sort=name' });
  await check('readRunSeries', { query: '?group_by=agent' });
  await check('readRunSeries', { query: '?group_by=model' });
  await check('readRunSeries', { query: '?metadata.plan!=pro&status=failed' });
  await check('readRunSeries', { query: '?interval=2m' });
  await check('readRunSeries', { query: '?start_time=2026-01-01T00:00:00Z&interval=1d' });
  await check('listPrices', {});
  await check('listPrices', { query: '?start_time=x' });
  await check('readWhatIf', { query: '?model=model-one&as=gpt-5' });
  await check('readWhatIf', { query: '?as=unheard-of' });
  await check('readWhatIf', { query: '' });
  await check('readServiceMap', { query: '?hours=0' });
  await check('readServiceMap', { query: '?start_time=2026-01-01T00:00:00Z' });
  await check('readServiceMap', {
    query: '?start_time=2026-01-01T00:00:00Z&end_time=2026-01-01T00:00:00Z',
  });
  await check('readServiceMapHours', { query: '?hours=8784' });
  await check('readServiceMapHours', { query: '?hours=0' });
  await check('listSessions', { query: `?agent_id=${agent_id}` });
  await check('readSession', { session_id: 'ticket%2047' });
  for (const id of ['exportTraces', 'exportMetrics', 'exportLogs']) await check(id, {}, { json: {} });
  await check('exportTraces', {}, { json: { resourceSpans: [{ scopeSpans: [{ spans: [{}] }] }] } });
  const { headers: ofDocument } = await check('readOpenApi', {}, { key: null });
  await check('readOpenApi', {}, { headers: { 'if-none-match': ofDocument.get('etag') ?? '' } });
  await check('readMe', {});
  await check('openBrowserSession', {}, { key: null, json: { token: 'x' } });
  const link = (await check('createSessionLink', {})).body as { readonly url: string };
  const proof = { key: null, json: { token: link.url.replace(/^.*#t=/, '') } };
  for (const operation of ['openBrowserSession', 'readSessionLink'])
    await check(operation, {}, { ...proof, headers: { 'sec-fetch-site': 'cross-site' } });
  await check('readSessionLink', {}, proof);
  const { headers } = await check('openBrowserSession', {}, proof);
  const cookie = headers.getSetCookie()[0]?.split(';')[0] ?? '';
  await check('closeBrowserSession', {}, { key: null, headers: { cookie } });
  const own = { key: null, headers: { cookie, 'x-jackdaw': '1', 'sec-fetch-site': 'same-origin' } };
  await check('createSessionLink', {}, own);
  await check('closeBrowserSession', {}, own);
  await check('readSessionLink', {}, proof);
  const { url } = (await check('createSessionLink', {})).body as { readonly url: string };
  await check('openBrowserSession', {}, { key: null, json: { token: url.replace(/^.*#t=/, '') } });
  const [session] = (await check('listMySessions', {})).body as readonly { readonly id: string }[];
  await check('revokeMySession', { session_id: session?.id ?? '' });
  await check('revokeMySession', { session_id: session?.id ?? '' });
  const again = (await check('createSessionLink', {})).body as { readonly url: string };
  await check('openBrowserSession', {}, { key: null, json: { token: again.url.replace(/^.*#t=/, '') } });
  await check('revokeMySessions', {});
  await check('readUsage', {});
  await check('readDailyUsage', { query: '?days=x' });

  const user = (await check('createUser', {}, { json: { email: 'a@example.com', name: 'A' } })).body;
  const { id: user_id } = user as { readonly id: string };
  await check('createUser', {}, { json: { email: 'a@example.com', name: 'A' } });
  await check('listUsers', {});
  await check('updateUser', { user_id }, { json: { monthly_event_limit: 5 } });
  await check('updateUser', { user_id }, { json: { email: 'admin@localhost' } });
  for (const disabled of [true, false]) await check('updateUser', { user_id }, { json: { disabled } });
  const key = (await check('createKey', {}, { json: { user_id, name: 'k', scopes: ['read'] } })).body;
  const keys = (await check('listKeys', {})).body as readonly {
    readonly id: string;
    readonly scopes: string[];
  }[];
  await check('revokeKey', { key_id: (key as { readonly id: string }).id });
  const lastAdmin = keys.find(({ scopes }) => scopes.includes('admin'));
  await check('revokeKey', { key_id: lastAdmin?.id ?? '' });
  await check('listMyKeys', {});
  const mine = (await check('createMyKey', {}, { json: { name: 'mine', scopes: ['read'] } })).body;
  await check('revokeMyKey', { key_id: (mine as { readonly id: string }).id });
  await check('revokeMyKey', { key_id: lastAdmin?.id ?? '' });
  const view = { view_id: randomUUID() };
  await check('putView', view, { json: { name: 'failures', path: '/runs?status=failed' } });
  await check('listViews', {});
  await check('deleteView', view);
  await check('listKeys', { query: `?user_id=${user_id}` });
  for (const description of [undefined, 'a description', 'once more'])
    await check('createPrompt', {}, { json: { name: 'a/b', template_text: 'Hello.', description } });
  await check('createPrompt', {}, { json: { name: 'a/b', template_text: 'Hi.', version: 2 } });
  await check('listPrompts', {});
  await check('findPromptNames', { query: '?query=A' });
  await check('listPromptVersions', { name: 'a%2Fb' });
  const production = { name: 'a%2Fb', label: 'production' };
  for (const version of [2, 1, 2]) await check('movePromptLabel', production, { json: { version } });
  const stale = { headers: { 'if-match': '"1"' } };
  await check('movePromptLabel', production, { json: { version: 1 }, ...stale });
  await check('listPromptLabels', { name: 'a%2Fb' });
  for (const [id, place] of [
    ['readPromptLabel', production],
    ['readPrompt', { name: 'a%2Fb', query: '' }],
  ] as const) {
    const tag = (await check(id, place)).headers.get('etag') ?? '';
    await check(id, place, { headers: { 'if-none-match': tag } });
  }
  await check('deletePromptVersion', { name: 'a%2Fb', version: '2' });
  await check('removePromptLabel', production, stale);
  await check('removePromptLabel', production);
  await check('listPromptLabelMoves', { name: 'a%2Fb', query: '' });
  const usage = { prompt_name: 'a/b', prompt_version: 2, trace_id };
  await check('recordPromptUsage', {}, { json: usage });
  await check('comparePromptVersions', { name: 'a%2Fb' });
  await check('deletePromptVersion', { name: 'a%2Fb', version: '1' });
  await check('deletePrompt', { name: 'a%2Fb' });
  await check('createOrganization', {}, { json: { slug: 'acme', name: 'Acme' } });
  await check('createOrganization', {}, { json: { slug: 'acme', name: 'Acme' } });
  await check('listOrganizations', {});
  await check('putMember', { slug: 'acme', user_id }, { json: { role: 'member' } });
  await check('readMe', { query: '' });
  await check('listMembers', { slug: 'acme' });
  await check('removeMember', { slug: 'acme', user_id });
}

/** A domain that never resolves, so nothing is sent. */
const HOOK = { url: 'https://hook.example/', event_types: ['*'] };

async function checkEndpoints(check: Check): Promise<void> {
  const org_slug = 'default';
  const json = HOOK;
  const { body } = await check('createWebhookEndpoint', { org_slug }, { json });
  const { id: endpoint_id } = body as { readonly id: string };
  await check('createWebhookEndpoint', { org_slug }, { json: { ...json, name: 'a name' } });
  await check('listWebhookEndpoints', { org_slug });
  await check('testWebhookEndpoint', { org_slug, endpoint_id });
  await check('updateWebhookEndpoint', { org_slug, endpoint_id }, { json: { is_active: false } });
  await check('testWebhookEndpoint', { org_slug, endpoint_id });
  await check('rotateWebhookSecret', { org_slug, endpoint_id });
  await check('deleteWebhookEndpoint', { org_slug, endpoint_id });
}

/** An attempted delivery, and the maximum number of endpoints. */
async function checkDeliveries({ control: { deliveries } }: TestApi, check: Check): Promise<void> {
  const org_slug = 'crowded';
  await check('createOrganization', {}, { json: { slug: org_slug, name: 'Crowded' } });
  const { user } = (await check('readMe', {})).body as { readonly user: { readonly id: string } };
  await check('putMember', { slug: org_slug, user_id: user.id }, { json: { role: 'admin' } });
  const { body } = await check('createWebhookEndpoint', { org_slug }, { json: HOOK });
  const { id: endpoint_id } = body as { readonly id: string };
  const now = Date.now() * 1000;
  await deliveries.enqueue([{ tenant: user.id, event: anEvent(1, 'trace.failed', { a: 1 }) }], now);
  await deliveries.claim({
    now,
    limit: 100,
    perEndpoint: 100,
    perOrganization: 100,
    perHost: 100,
    leaseMs: 60_000,
  });
  const list = await check('listWebhookDeliveries', { org_slug, endpoint_id });
  const { items } = list.body as { readonly items: readonly { readonly id: string }[] };
  const delivery_id = items.at(-1)?.id ?? '';
  await check('readWebhookDelivery', { org_slug, delivery_id });
  await check('retryWebhookDelivery', { org_slug, delivery_id });
  await check('listOrganizationDeliveries', { org_slug, query: '?page_size=1' });
  await check('listOrganizationDeliveries', { org_slug, query: '?cursor=x' });
  const since = '2026-01-01T00:00:00Z';
  const retry = { json: { endpoint_id, since } };
  await check('retryWebhookDeliveries', { org_slug }, retry);
  await check('retryWebhookDeliveries', { org_slug }, { json: { since } });
  await check('retryWebhookDeliveries', { org_slug }, { json: { since, endpoint_id: delivery_id } });
  await check('updateWebhookEndpoint', { org_slug, endpoint_id }, { json: { is_active: false } });
  await check('retryWebhookDeliveries', { org_slug }, retry);
  const more = Array.from({ length: 100 }, () =>
    check('createWebhookEndpoint', { org_slug }, { json: HOOK }),
  );
  await Promise.all(more);
  await check('createWebhookEndpoint', { org_slug }, { json: HOOK });
}

/** With and without optional fields, before and after firing. */
async function checkAlerts(api: TestApi, check: Check): Promise<void> {
  const agents = await api.get<readonly { readonly id: string }[]>('/agents');
  const ofAgent = { agent_id: agents[0]?.id, type: 'failure_rate', threshold: 0.5 };
  const ofService = {
    target_service: 'a',
    type: 'composite',
    composite_config: COMPOSITE,
    channel: 'both',
    webhook_url: HOOK_URL,
  };
  await check('previewAlert', {}, { json: { alert: { ...ofAgent, agent_id: randomUUID() } } });
  for (const json of [ofAgent, ofService]) {
    await check('previewAlert', {}, { json: { alert: json, hours: 1 } });
    const alert_id = ((await check('createAlert', {}, { json })).body as { readonly id: string }).id;
    await check('readAlert', { alert_id });
    await check('testAlert', { alert_id });
    await check('sendAlertTest', { alert_id });
    await check('listAlertEvents', { alert_id });
    await fireOnce(api, alert_id);
    await check('listAlertEvents', { alert_id });
    await check('listFiredAlerts', { query: '?page_size=1' });
    await check('updateAlert', { alert_id }, { json: { is_active: false } });
    await check('listAlertEvents', { alert_id });
    await check('listAlerts', {});
    await check('deleteAlert', { alert_id });
  }
}

/** With an attempt to send the notice. */
async function fireOnce({ control: { alerts, notices } }: TestApi, alertId: string): Promise<void> {
  const now = Date.now() * 1000;
  const eventId = randomUUID();
  const incident = { id: eventId, firings: 1 };
  const firing = { alertId, lastFiredAt: null, firedAt: now, eventId, incident, evidence: '' };
  await alerts.recordFirings([{ ...firing, threshold: 0.5, value: 1, data: {}, traceIds: [] }]);
  const { items } = await notices.claim(dueBy(now, 10));
  const attempt = { attempt_number: 1, attempted_at: now, status_code: null, duration_ms: 1.5 };
  const results = items.map(({ number, token }) => ({
    number,
    token,
    status: 'failed' as const,
    detail: 'no answer',
    attempt: { ...attempt, error_message: 'No answer came.' },
    retryAt: null,
  }));
  await notices.finish(results);
}

/** Every metric type with all optional fields of points. */
async function checkMetrics(api: TestApi, check: Check): Promise<void> {
  const folder = 'test/testdata/otlp-metrics';
  for (const file of readdirSync(join(projectFolder(), folder))) {
    const { request } = JSON.parse(readProjectFile(join(folder, file))) as { readonly request: object };
    await api.call('POST', '/otlp/v1/metrics', { json: request });
  }
  const { body } = await check('listMetrics', {});
  for (const { name } of body as readonly { readonly name: string }[]) {
    await check('queryMetric', { query: `?name=${name}` });
    await check('queryMetric', { query: `?name=${name}&details=true` });
    for (const agg of ['sum', 'rate', 'p95'])
      await check('readMetricSeries', {
        query: `?name=${name}&agg=${agg}&start_time=2000-01-01T00:00:00Z&end_time=2003-01-01T00:00:00Z`,
      });
    await check('listMetricLabels', { query: `?name=${name}&start_time=1970-01-01T00:00:00Z` });
  }
}

/** Also a rejected rebuild while another one runs. */
async function checkRebuild({ seen }: DocumentedApi, check: Check): Promise<void> {
  await check('rebuildServiceMap', { query: '?dry_run=true' });
  do await Promise.all(Array.from({ length: 4 }, () => check('rebuildServiceMap', {})));
  while (!seen.has('rebuildServiceMap 409'));
}

async function checkReload({ directory }: TestApi, check: Check): Promise<void> {
  const file = join(directory, 'reload.yaml');
  await check('reloadDaemon', {});
  writeFileSync(file, 'nothing: {}');
  await check('reloadDaemon', {});
  writeFileSync(file, 'service: { http: { hosts: [a.example] } }');
  await check('reloadDaemon', {});
  rmSync(file);
}

/** A user with an exhausted quota. */
async function checkQuota(api: TestApi, check: Check): Promise<void> {
  const { id: user_id, key } = await api.createUser('few@example.com', ['write', 'read']);
  await check('updateUser', { user_id }, { json: { monthly_event_limit: 1 } });
  await check('ingestTraces', {}, { key, json: { traces: [anItem({ spans: 2 })] } });
  const span = { traceId: 'a'.repeat(32), spanId: 'b'.repeat(16), name: 'x', startTimeUnixNano: START };
  const spans = [span, { ...span, spanId: 'c'.repeat(16) }];
  await check('exportTraces', {}, { key, json: { resourceSpans: [{ scopeSpans: [{ spans }] }] } });
  await check('readUsage', {}, { key });
  await check('readDailyUsage', {}, { key });
  await check('listRejections', {}, { key });
}

/** A record with a trace and a nearly empty one. */
async function checkLogs(api: TestApi, check: Check): Promise<void> {
  const nanos = 1_768_478_400_000_000_000n;
  const logs = [
    { body: 'found', nanos, traceId: 'a'.repeat(32), attributes: { a: 'b' } },
    { body: {}, nanos },
  ];
  await api.call('POST', '/otlp/v1/logs', { json: logRequest('shop', logs) });
  const { body } = await check('searchLogs', { query: '?details=true' });
  await check('searchLogs', { query: '?query=found&service=shop&severity=info' });
  await check('searchLogs', { query: '?limit=1' });
  await check('readLogFacets', { query: '?interval=2h' });
  await check('readLogFacets', { query: '?start_time=2026-01-15T11:00:00Z&end_time=2026-01-15T13:00:00Z' });
  const { items } = body as { readonly items: readonly { readonly id: string }[] };
  for (const { id } of items) await check('readLogTrace', { log_id: id });
}

const NONSENSE = '?page=x&page_size=x&user_id=x&limit=x&dry_run=x&hours=x&start_time=x';

async function checkRefusals(api: TestApi, documented: DocumentedApi, check: Check): Promise<void> {
  const manager = (await api.createKey(['manage'])).key;
  const reader = (await api.createKey(['read'])).key;
  const missing = randomUUID();
  const bodies: Readonly<Record<string, object>> = {
    setTraceOutcome: { success: true },
    updateUser: { name: 'x' },
    createKey: { user_id: missing, name: 'x', scopes: ['read'] },
    putMember: { role: 'member' },
    createWebhookEndpoint: HOOK,
    updateWebhookEndpoint: { is_active: true },
    createAlert: { agent_id: missing, type: 'failure_rate', threshold: 0.5 },
    updateAlert: { is_active: true },
    putView: { name: 'x', path: '/runs', org_slug: 'nowhere' },
    movePromptLabel: { version: 1 },
    recordPromptUsage: { prompt_name: 'nowhere', prompt_version: 1, trace_id: missing },
  };
  const queries: Readonly<Record<string, string>> = {
    compareAgents: `?agent_a=${randomUUID()}&agent_b=${randomUUID()}`,
    queryMetric: '?name=nothing',
    readMetricSeries: '?name=nothing',
    listMetricLabels: '?name=nothing',
    searchTrace: '?query=nothing',
  };
  const type = { 'content-type': 'application/json' };
  const tooLarge = new Uint8Array(gzipSync(Buffer.alloc(65 * 1024 * 1024, ' ')));
  for (const { path, operation } of documented.operations()) {
    const id = operation.operationId;
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
    const placed = (value: (name: string, isId: boolean) => string): Record<string, string> =>
      Object.fromEntries(names.map((name) => [name, value(name, name.endsWith('_id'))]));
    const nowhere = placed((name, isId) => (isId ? randomUUID() : name === 'version' ? '0' : 'nowhere'));
    const nonsense = placed((name, isId) => (isId || name === 'version' ? 'x' : '%20'));
    const hasBody = operation.requestBody !== undefined;
    const json = hasBody ? { json: bodies[id] ?? {} } : {};
    if (operation.security.length > 0) await check(id, nowhere, { key: null, ...json });
    const weak = operation.security.some((kind) => kind['api_key']?.includes('manage')) ? reader : manager;
    if (operation.responses['403']) await check(id, nowhere, { key: weak, ...json });
    if (operation.responses['404'])
      await check(
        id,
        {
          ...nowhere,
          query: queries[id] ?? '',
        },
        json,
      );
    if (operation.responses['422'])
      await check(id, { ...nonsense, query: NONSENSE }, hasBody ? { json: {} } : {});
    if (operation.responses['400'] && !hasBody)
      await check(
        id,
        placed(() => '%zz'),
      );
    if (!hasBody) continue;
    await check(id, nowhere, { body: '{', headers: type });
    await check(id, nowhere, { body: '{}', headers: { 'content-type': 'text/plain' } });
    await check(id, nowhere, { body: tooLarge, headers: { ...type, 'content-encoding': 'gzip' } });
  }
}
