import t, { type Test } from 'tap';
import { decodeJson } from '../../../src/otlp/decode/json.js';
import { spansToTraces } from '../../../src/otlp/map/spans-to-traces.js';
import type { Span, TracesRequest } from '../../../src/otlp/wire/requests.js';
import type { JsonObject } from '../../../src/signal/attributes.js';
import { startTestDaemon } from '../../support/daemon.js';
import { recordedOtlpTraces } from '../../support/recorded-otlp.js';
import { TracesClient, type Shown, type ShownTrace } from '../../support/traces-client.js';
import { EXPECTED, type ExpectedRun, type ExpectedSpan } from './recorded-expectations.js';

const recorded = recordedOtlpTraces();
const skip = recorded.size === 0 && 'the folder of recorded runs is not here';

void t.test('every recorded file has expectations', { skip }, async (t) => {
  t.strictSame([...recorded.keys()].sort(), Object.keys(EXPECTED).sort());
});

void t.test('the API shows the expected run of every recorded file', { skip }, async (t) => {
  const { url, key } = await startTestDaemon(t);
  for (const [name, text] of recorded)
    await t.test(name, async (t) => {
      t.strictSame(await send(url, key, text), {});
      checkRun(t, await readRun(url, key, text), EXPECTED[name]);
    });
});

void t.test('also if spans arrive one by one in reverse', { skip }, async (t) => {
  const { url, key } = await startTestDaemon(t);
  for (const [name, text] of recorded)
    await t.test(name, async (t) => {
      for (const part of alone(text).reverse()) t.strictSame(await send(url, key, part), {});
      checkRun(t, await readRun(url, key, text), EXPECTED[name]);
    });
});

void t.test('keeps every attribute of every recorded file', { skip }, async (t) => {
  for (const [name, text] of recorded) {
    const request = decodeJson('traces', JSON.parse(text) as unknown);
    const { batch, rejected } = spansToTraces(request, { tenant: 'a user', idleTimeoutMs: null });
    t.strictSame(rejected, [], name);
    const records = new Map(batch.items.flatMap(({ spans }) => spans).map((span) => [span.span_id, span]));
    for (const { span, resource, scope } of spansOf(text)) {
      const { metadata } = [...records.values()].find(({ span_id }) => span_id.endsWith(tail(span))) ?? {};
      for (const [key, value] of Object.entries(span.attributes))
        t.strictSame(metadata?.[key], value, `${name} ${span.name} ${key}`);
      t.strictSame(metadata?.resource, resource, `${name} ${span.name}: resource`);
      t.match(metadata?.scope, scope, `${name} ${span.name}: scope`);
      t.match(metadata?.otel, { trace_id: span.traceId, span_id: span.spanId, kind: 'internal' });
    }
  }
});

async function send(url: string, key: string, body: string): Promise<unknown> {
  const response = await fetch(`${url}/api/v1/otlp/v1/traces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
  });
  return response.json();
}

async function readRun(url: string, key: string, text: string): Promise<ShownTrace | null> {
  const [first] = spansOf(text);
  const id = (first?.span.traceId ?? '').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
  return new TracesClient(url, key).readTrace(id);
}

function checkRun(t: Test, run: ShownTrace | null, expected: ExpectedRun | undefined): void {
  if (!run || !expected) {
    t.fail('no such run');
    return;
  }
  t.match(run, {
    agent_name: expected.agent,
    status: 'completed',
    duration_ms: expected.durationMs,
    success: null,
    outcome: null,
    error_message: null,
  });
  t.equal(run['total_tokens'], expected.tokens, 'tokens of the run');
  t.equal(run.spans.length, countOf(expected.root), 'number of spans');
  checkSpans(t, childrenOf(run, null), [expected.root], run, '');
}

function checkSpans(
  t: Test,
  shown: readonly Shown[],
  expected: readonly ExpectedSpan[],
  run: ShownTrace,
  above: string,
): void {
  t.strictSame(
    shown.map(({ name, type, model, ...span }) => ({
      name,
      type,
      model,
      tokens: [span['input_tokens'], span['output_tokens'], span['total_tokens']],
    })),
    expected.map(({ name, type, model, tokens }) => ({ name, type, model, tokens })),
    `below ${above || 'nothing'}`,
  );
  expected.forEach((span, i) => {
    const found = shown[i];
    if (!found) return;
    const place = `${above}/${span.name}`;
    checkPayload(t, found['input_data'], span.input, `${place} input`);
    checkPayload(t, found['output_data'], span.output, `${place} output`);
    checkSpans(t, childrenOf(run, found['span_id']), span.children, run, place);
  });
}

function checkPayload(t: Test, found: unknown, expected: object | null, place: string): void {
  if (expected === null) t.equal(found, null, place);
  else t.match(found, expected, place);
}

function childrenOf(run: ShownTrace, parent: unknown): readonly Shown[] {
  return run.spans.filter((span) => span['parent_span_id'] === parent);
}

function countOf({ children }: ExpectedSpan): number {
  return children.reduce((sum, child) => sum + countOf(child), 1);
}

interface FoundSpan {
  readonly span: {
    readonly traceId: string;
    readonly spanId: string;
    readonly name: string;
    readonly attributes: JsonObject;
  };
  readonly resource: JsonObject;
  readonly scope: JsonObject;
}

/** The spans of a file, read without Jackdaw code. */
function spansOf(text: string): readonly FoundSpan[] {
  const request = JSON.parse(text) as RawRequest;
  return request.resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span) => ({
        span: { ...span, attributes: plain(span.attributes) },
        resource: plain(resource.attributes),
        scope: Object.fromEntries(Object.entries(scope).filter(([, value]) => value !== '')),
      })),
    ),
  );
}

type RawAttributes = readonly { readonly key: string; readonly value: JsonObject }[];

interface RawRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: RawAttributes };
    readonly scopeSpans: readonly {
      readonly scope: JsonObject;
      readonly spans: readonly (Omit<FoundSpan['span'], 'attributes'> & {
        readonly attributes: RawAttributes;
      })[];
    }[];
  }[];
}

function plain(attributes: RawAttributes): JsonObject {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue(value: JsonObject): JsonObject[string] {
  const list = value.arrayValue as { readonly values: JsonObject[] } | undefined;
  if (list) return list.values.map(plainValue);
  if (value.intValue !== undefined) return Number(value.intValue);
  return value.stringValue ?? value.boolValue ?? value.doubleValue ?? null;
}

function tail({ spanId }: { readonly spanId: string }): string {
  return `-${spanId.slice(4)}`;
}

/** One request per span. */
function alone(text: string): string[] {
  const request = JSON.parse(text) as TracesRequest;
  return (request.resourceSpans ?? []).flatMap(({ resource, scopeSpans }) =>
    (scopeSpans ?? []).flatMap(({ scope, spans }) =>
      (spans ?? []).map((span: Span) =>
        JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [span] }] }] }),
      ),
    ),
  );
}
