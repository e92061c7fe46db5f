import fc from 'fast-check';
import { randomUUID } from 'node:crypto';
import type { ApiCaller } from '../support/api-caller.js';
import {
  extremeAlerts,
  extremeItems,
  extremeLogs,
  extremePoints,
  extremePrompts,
  extremeSpans,
  oneExtremeEach,
} from '../support/extreme-values.js';
import { traceIdOf } from '../support/header-text.js';
import { aSpan, anItem, type Item } from '../support/trace-batch.js';

/** Sends a request that the daemon may refuse. */
async function tried(api: ApiCaller, path: string, json: unknown): Promise<void> {
  const { status } = await api.call('POST', path, { json });
  if (status >= 500) throw new Error(`POST ${path} answered ${String(status)}`);
}

/** Sends a request that must succeed. */
async function invariant(api: ApiCaller, method: string, path: string, json: unknown): Promise<unknown> {
  const { status, body } = await api.call(method, path, { json });
  if (status >= 300) throw new Error(`${method} ${path} answered ${String(status)} ${JSON.stringify(body)}`);
  return body;
}

/**
 * Fills a daemon with extreme values in every field and with runs received in every possible way.
 *
 * @param hook URL of a webhook
 */
export async function fill(api: ApiCaller, seed: number, hook: string): Promise<void> {
  for (const json of samples(extremePrompts, seed)) await tried(api, '/dashboard/prompts', json);
  for (const version of [1, 2])
    await invariant(api, 'POST', '/dashboard/prompts/', {
      name: 'greeting',
      version,
      template_text: `Hello {{name}}, ${String(version)}`,
    });
  const messages = [{ role: 'system', content: 'Greet {{name}}.' }];
  await invariant(api, 'POST', '/dashboard/prompts/', { name: 'greeting', version: 3, messages });
  const shares = [1, 3].map((version) => ({ version, weight: version }));
  for (const json of [{ version: 2 }, { versions: shares }])
    await invariant(api, 'PUT', '/dashboard/prompts/greeting/labels/production', json);
  await fillTelemetry(api, seed);
  for (const json of samples(extremeAlerts, seed)) await tried(api, '/alerts', json);
  // Alerts that fire repeatedly would make every moment different.
  for (const { id } of await api.get<readonly { readonly id: string }[]>('/alerts'))
    await invariant(api, 'PATCH', `/alerts/${id}`, { is_active: false });
  await administration(api, hook);
}

/** Like {@link fill} without control data. May be repeated with another seed. */
export async function fillTelemetry(api: ApiCaller, seed: number): Promise<void> {
  const items: readonly Item[] = [...oneExtremeEach(), ...samples(extremeItems, seed)];
  for (let at = 0; at < items.length; at += 20)
    await tried(api, '/traces/batch', { traces: items.slice(at, at + 20) });
  for (const json of samples(extremeSpans, seed)) await tried(api, '/otlp/v1/traces', json);
  for (const json of samples(extremePoints, seed)) await tried(api, '/otlp/v1/metrics', json);
  for (const json of samples(extremeLogs, seed)) await tried(api, '/otlp/v1/logs', json);
  await runsInParts(api);
}

function samples<Value>(values: fc.Arbitrary<Value[]>, seed: number): Value[] {
  return fc.sample(values, { numRuns: 2, seed }).flat();
}

/** Runs sent in several requests, with completed spans, outcomes and linked prompts. */
async function runsInParts(api: ApiCaller): Promise<void> {
  const begun = anItem({ trace: { status: 'running', ended_at: undefined, success: undefined }, spans: 2 });
  const traceId = traceIdOf(begun);
  await api.send([begun]);
  const open = aSpan(traceId, {
    status: 'running',
    ended_at: undefined,
    duration_ms: undefined,
    output_data: undefined,
    cost_usd: undefined,
    total_tokens: undefined,
    output_tokens: undefined,
  });
  await api.send([{ trace: begun.trace, spans: [open] }]);
  const done = { ...aSpan(traceId), span_id: open['span_id'] ?? null };
  const ended = {
    ...begun.trace,
    status: 'failed',
    ended_at: '2026-11-03T08:15:40Z',
    error_message: 'timeout',
  };
  await api.send([{ trace: ended, spans: [done, aSpan(traceId, { type: 'http', name: 'GET /weather' })] }]);
  const late = anItem({ spans: 1 });
  await api.send([late]);
  await api.send([{ trace: late.trace, spans: [aSpan(traceIdOf(late), { type: 'db', name: 'select' })] }]);
  await api.send([
    anItem({ spans: 0 }),
    anItem({ trace: { status: 'running', ended_at: undefined }, spans: 0 }),
  ]);
  const id = traceIdOf(late);
  await invariant(api, 'PATCH', `/dashboard/traces/${id}/outcome`, { success: false, outcome: 'refused' });
  await invariant(api, 'POST', '/dashboard/prompts/usage', {
    prompt_name: 'greeting',
    prompt_version: 1,
    trace_id: id,
  });
  await otlpRun(api, { root: true });
  await otlpRun(api, { root: false });
}

/** An undeclared run: its header is derived from its spans, sent in two requests. */
async function otlpRun(api: ApiCaller, { root }: { readonly root: boolean }): Promise<void> {
  const traceId = randomUUID().replaceAll('-', '');
  const [top, leaf] = [randomUUID(), randomUUID()].map((id) => id.replaceAll('-', '').slice(0, 16));
  const span = (spanId: string | undefined, more: object) => ({
    traceId,
    spanId,
    name: 'step',
    startTimeUnixNano: '1793693730000000000',
    endTimeUnixNano: '1793693731000000000',
    ...more,
  });
  const request = (spans: readonly object[]) => ({
    resourceSpans: [
      {
        resource: { attributes: [{ key: 'service.name', value: { stringValue: 'shop' } }] },
        scopeSpans: [{ scope: { name: 'test' }, spans }],
      },
    ],
  });
  const attributes = [
    { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
    { key: 'gen_ai.request.model', value: { stringValue: 'gpt-4o' } },
    { key: 'gen_ai.usage.input_tokens', value: { intValue: '120' } },
    { key: 'session.id', value: { stringValue: 'session-one' } },
    { key: 'own.key', value: { stringValue: 'kept' } },
  ];
  const evaluation = [
    { key: 'gen_ai.evaluation.name', value: { stringValue: 'Relevance' } },
    { key: 'gen_ai.evaluation.score.value', value: { doubleValue: -0.5 } },
    { key: 'gen_ai.evaluation.explanation', value: { stringValue: "It's off topic." } },
  ];
  const events = [
    { name: 'gen_ai.evaluation.result', timeUnixNano: '1793693730500000000', attributes: evaluation },
  ];
  const response = { key: 'gen_ai.response.id', value: { stringValue: `resp-${traceId}` } };
  const child = span(leaf, { parentSpanId: top, kind: 3, events, attributes: [...attributes, response] });
  await api.call('POST', '/otlp/v1/traces', {
    json: request([
      child,
      span(undefined, { spanId: top?.replace(/^./, 'a'), parentSpanId: top, attributes }),
    ]),
  });
  const logRecords = [
    {
      timeUnixNano: '1793693732000000000',
      eventName: 'gen_ai.evaluation.result',
      attributes: [...evaluation, response],
    },
  ];
  await api.call('POST', '/otlp/v1/logs', { json: { resourceLogs: [{ scopeLogs: [{ logRecords }] }] } });
  if (root)
    await api.call('POST', '/otlp/v1/traces', { json: request([span(top, { name: 'checkout', kind: 1 })]) });
}

/** A second user, an organization, an endpoint with a secret, a saved view and a limit. */
async function administration(api: ApiCaller, hook: string): Promise<void> {
  const other = await api.createUser('other@example.com', ['read', 'write']);
  await api.send([anItem({ trace: { agent: 'of another user' }, spans: 3 })], other.key);
  await invariant(api, 'POST', '/admin/orgs', { slug: 'second', name: 'Second' });
  await invariant(api, 'POST', '/org/default/webhooks/endpoints', {
    url: hook,
    name: 'all of it',
    event_types: ['trace.failed', 'alert.fired'],
  });
  const view = randomUUID();
  await invariant(api, 'PUT', `/dashboard/views/${view}`, {
    name: 'failed runs',
    path: '/runs?status=failed',
  });
}

/** An alert rule that a run triggers. @param now start of the run in API format */
export async function alerted(api: ApiCaller, now: string): Promise<string> {
  const trace = { agent: 'alerted', started_at: now, ended_at: now };
  await api.send([anItem({ trace })]);
  const agents = await api.get<readonly { readonly id: string; readonly name: string }[]>('/agents');
  const rule = (await invariant(api, 'POST', '/alerts', {
    agent_id: agents.find(({ name }) => name === 'alerted')?.id,
    type: 'failure_rate',
    threshold: 0.1,
    channel: 'email',
  })) as { readonly id: string };
  await api.send([
    anItem({ trace: { ...trace, status: 'failed', success: false, error_message: 'no' }, spans: 2 }),
  ]);
  return rule.id;
}
