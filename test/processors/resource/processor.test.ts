import t from 'tap';
import { resourceProcessor } from '../../../src/processors/resource/factory.js';
import { transformProcessor } from '../../../src/processors/transform/factory.js';
import { decodeJson } from '../../../src/otlp/decode/json.js';
import { encodeTraces } from '../../../src/otlp/encode/traces.js';
import { toKeyValues } from '../../../src/otlp/encode/value.js';
import { resourceOf } from '../../../src/otlp/map/resource-of.js';
import type { KeyValue, Span, TracesRequest } from '../../../src/otlp/wire/requests.js';
import type { JsonObject } from '../../../src/signal/attributes.js';
import { originOfSent, sentOf } from '../../../src/signal/sent-span.js';
import type { TraceRecord } from '../../../src/signal/trace.js';
import { metricValues } from '../../support/engine.js';
import { aLog } from '../../support/log-records.js';
import { mapSpans, ROOT } from '../../support/mapped-span.js';
import { aMetric, aPoint } from '../../support/metric-points.js';
import { aSpan } from '../../support/otlp-requests.js';
import { recordedOtlpTraces, recordedPrograms } from '../../support/recorded-otlp.js';
import { processorOf } from '../../support/processors.js';
import { aTrace } from '../../support/run-records.js';

/** Spans under one resource. */
function under(resource: readonly KeyValue[], ...spans: readonly Span[]): TracesRequest {
  return { resourceSpans: [{ resource: { attributes: resource }, scopeSpans: [{ spans }] }] };
}

const root = (attributes: JsonObject = {}) => aSpan(1, { ...ROOT, attributes: toKeyValues(attributes) });
const child = aSpan(2, { parentSpanId: Buffer.alloc(8, 1) });

/** The runs of a request after some rules. */
async function changed(rules: string, items: TraceRecord[]): Promise<TraceRecord[]> {
  const { consume, passed } = processorOf(resourceProcessor, 'traces', `rules: ${rules}`);
  await consume(items);
  return passed[0]?.items ?? [];
}

function runsOf(request: TracesRequest): TraceRecord[] {
  return mapSpans(request).batch.items;
}

void t.test('spans share a new origin, in which unchanged attributes keep their type', async (t) => {
  const bytes: KeyValue = { key: 'blob', value: { bytesValue: Buffer.from('x') } };
  const sent = [bytes, ...toKeyValues({ env: 'eu', 'host.ip': '192.0.2.7', k8s: { pod: { name: 'a' } } })];
  const before = runsOf(under(sent, root(), child));
  const [run] = await changed(
    `[{ set: { k8s.pod.name: '"b"', cluster: '7' }, rename: { env: region }, delete: [host.ip, nothing] }]`,
    before,
  );
  const [first, second] = run?.spans ?? [];
  if (first === undefined || second === undefined) throw new Error('no spans');
  t.strictSame(resourceOf(first), { blob: 'eA==', k8s: { pod: { name: 'b' } }, cluster: 7, region: 'eu' });
  t.ok(sentOf(first), 'the span keeps its bytes');
  t.equal(originOfSent(first), originOfSent(second));
  t.strictSame(run?.trace.metadata?.['resource'], resourceOf(first));
  const { resourceSpans } = encodeTraces({ tenant: 'a', items: run === undefined ? [] : [run] });
  t.equal(resourceSpans?.length, 1);
  const kept = resourceSpans?.[0]?.resource?.attributes?.find(({ key }) => key === 'blob');
  t.strictSame(Buffer.from(kept?.value?.bytesValue ?? []).toString(), 'x');
});

void t.test('dimensions and agent of a run follow', async (t) => {
  const sent = { 'service.name': 'old', 'deployment.environment.name': 'test', 'service.version': '1' };
  const rules = `[{ set: { service.name: '"new"', deployment.environment.name: '"production"' }, delete: [service.version] }]`;
  const [run] = await changed(rules, runsOf(under(toKeyValues(sent), root(), child)));
  t.match(run?.trace, { agent: 'new', environment: 'production', release: null });
  t.match(run?.spans[0], {
    agent_hint: { source: 'service.name', name: 'new' },
    context: { environment: 'production', release: null },
  });
  t.match(run?.spans[1], { agent_hint: { name: 'new' }, context: null });

  const [own] = await changed(
    rules,
    runsOf(under(toKeyValues(sent), root({ 'gen_ai.agent.name': 'Ann', 'langfuse.environment': 'mine' }))),
  );
  t.match(own?.trace, { agent: 'Ann', environment: 'mine' }, "the span's own values stay");

  const [equal] = await changed(
    rules,
    runsOf(under(toKeyValues(sent), root({ 'langfuse.environment': 'test' }))),
  );
  t.equal(equal?.trace.environment, 'test', 'also if the resource had the same');

  const [named] = await changed(
    `[{ when: '!("service.name" in resource)', set: { service.name: '"a service"' } }]`,
    runsOf(under([], root())),
  );
  t.equal(named?.trace.agent, 'a service');
  const [nameless] = await changed('[{ delete: [service.name] }]', runsOf(under(toKeyValues(sent), root())));
  t.equal(nameless?.trace.agent, 'span 1');
});

void t.test('a span whose metadata was changed before keeps both changes', async (t) => {
  const transform = processorOf(transformProcessor, 'traces', `spans: [{ set: { metadata.a: '1' } }]`);
  await transform.consume(runsOf(under(toKeyValues({ env: 'test' }), root())));
  const [run] = await changed(`[{ set: { env: '"production"' } }]`, transform.passed[0]?.items ?? []);
  t.match(run?.spans[0]?.metadata, { a: 1, resource: { env: 'production' } });
});

void t.test('a declared run has its resource in its metadata', async (t) => {
  const rules = `[{ set: { deployment.environment.name: '"production"', service.version: '"2"' } }]`;
  const items = [
    aTrace(1, { metadata: { a: 1, resource: { b: 2 } }, release: '1' }),
    aTrace(0, { metadata: { resource: 'a text' } }),
  ];
  const [first, second] = await changed(rules, items);
  t.match(first?.trace, {
    environment: 'production',
    release: '1',
    metadata: { a: 1, resource: { b: 2, 'deployment.environment.name': 'production' } },
  });
  t.match(second?.trace, { environment: 'production', metadata: { resource: 'a text' } });
  const { resourceSpans } = encodeTraces({ tenant: 'a', items: items.slice(0, 1) });
  const attributes = resourceSpans?.[0]?.resource?.attributes ?? [];
  t.strictSame(
    new Map(attributes.map(({ key, value }) => [key, value?.stringValue ?? value?.intValue])),
    new Map<string, unknown>([
      ['b', 2],
      ['deployment.environment.name', 'production'],
      ['service.version', '2'],
      ['service.name', 'researcher'],
    ]),
  );
});

void t.test('the service of points and log records follows, and shared objects stay shared', async (t) => {
  const rules = `rules: [{ set: { service.name: '"new"' } }]`;
  const stream = aMetric();
  const metrics = processorOf(resourceProcessor, 'metrics', rules);
  const attributes = { route: '/pay', service_name: 'mine' };
  await metrics.consume([aPoint({ stream, attributes }), aPoint({ stream })]);
  const [first, second] = metrics.passed[0]?.items ?? [];
  t.strictSame(first?.labels, {
    route: '/pay',
    service_name: 'new',
    'attributes.service_name': 'mine',
  });
  t.equal(first?.stream.origin.serviceName, 'new');
  t.equal(first?.stream, second?.stream);
  t.equal(stream.origin.serviceName, 'checkout', 'the sent stream is unchanged');

  const logs = processorOf(resourceProcessor, 'logs', rules);
  const { origin } = aLog();
  await logs.consume([aLog({ origin }), aLog({ origin })]);
  const [one, other] = logs.passed[0]?.items ?? [];
  t.match(one?.origin, { serviceName: 'new', resource: { 'service.name': 'new' } });
  t.equal(one?.origin, other?.origin);
  t.equal(origin.serviceName, 'checkout');
});

const recorded = [...recordedOtlpTraces(), ...recordedPrograms()];
const skip = recorded.length === 0 && 'the folder of recorded runs is not here';

void t.test('recorded runs are changed as if they had been sent like this', { skip }, async (t) => {
  const rules = [
    `[{ set: { service.name: '"another"', deployment.environment.name: '"production"' }, delete: [service.version, telemetry.sdk.language] }]`,
    '[{ delete: [service.name, openinference.project.name] }]',
  ];
  /** All fields, in the order of the ids. */
  const read = (items: readonly TraceRecord[]) =>
    items
      .map(({ trace, spans }) => ({
        trace,
        spans: spans
          .map((span) => ({ ...span, metadata: span.metadata }))
          .sort((a, b) => (a.span_id < b.span_id ? -1 : 1)),
      }))
      .sort((a, b) => (a.trace.trace_id < b.trace.trace_id ? -1 : 1));
  for (const [file, text] of recorded)
    for (const rule of rules) {
      const items = await changed(rule, runsOf(decodeJson('traces', JSON.parse(text) as unknown)));
      t.strictSame(read(items), read(runsOf(encodeTraces({ tenant: 'a', items }))), file);
    }
});

void t.test('a batch without changes passes on identical objects', async (t) => {
  const rules = `rules:
  - { when: 'resource.exists(key, key == "nowhere")', set: { a: '1' } }
  - { set: { env: '"test"' }, rename: { no: yes }, delete: [nothing] }
`;
  const items = runsOf(under(toKeyValues({ env: 'test' }), root(), child));
  const before = items.map(({ trace, spans }) => ({
    header: { ...trace },
    spans: spans.map((span) => ({ span, sent: sentOf(span), context: span.context, hint: span.agent_hint })),
  }));
  const traces = processorOf(resourceProcessor, 'traces', rules);
  await traces.consume(items);
  t.equal(traces.passed[0]?.items, items);
  for (const [index, { header, spans }] of before.entries()) {
    t.strictSame(items[index]?.trace, header);
    for (const [at, { span, sent, context, hint }] of spans.entries()) {
      t.equal(items[index]?.spans[at], span);
      t.ok(sent !== undefined && sentOf(span) === sent);
      t.equal(span.context, context);
      t.equal(span.agent_hint, hint);
    }
  }

  const resource = { env: 'test' };
  const origin = { resource, scope: null, serviceName: '' };
  const stream = aMetric({ origin });
  const point = aPoint({ stream });
  const { labels } = point;
  const metrics = processorOf(resourceProcessor, 'metrics', rules);
  await metrics.consume([point]);
  t.equal(metrics.passed[0]?.items[0], point);
  t.equal(point.stream, stream);
  t.equal(point.labels, labels);
  const log = aLog({ origin });
  const logs = processorOf(resourceProcessor, 'logs', rules);
  await logs.consume([log]);
  t.equal(logs.passed[0]?.items[0], log);
  t.equal(log.origin, origin);
});

void t.test('a failing expression skips its rule, or drops or refuses the items, counted once', async (t) => {
  const rules = `rules: [{ set: { a: '1', b: 'resource["missing"]' } }, { set: { c: '3' } }]`;
  const { origin } = aLog();
  const logs = () => [aLog({ origin }), aLog({ origin })];
  const keeping = processorOf(resourceProcessor, 'logs', rules);
  await keeping.consume(logs());
  t.strictSame(keeping.passed[0]?.items[1]?.origin.resource, { 'service.name': 'checkout', c: 3 });
  t.match(await metricValues(keeping.settings.meter, 'jackdaw_processor_expression_errors_total'), {
    'jackdaw_processor_expression_errors_total{processor="resource"}': 1,
  });

  const refusing = processorOf(resourceProcessor, 'logs', `${rules}\non_error: refuse`);
  t.match(await refusing.consume(logs()), {
    accepted: 0,
    refused: [{ reason: /processor resource cannot be evaluated/ }, { index: 1 }],
  });

  const request = {
    resourceSpans: [
      ...(under([], root()).resourceSpans ?? []),
      ...(under(toKeyValues({ missing: 1 }), child).resourceSpans ?? []),
    ],
  };
  const dropping = processorOf(resourceProcessor, 'traces', `${rules}\non_error: drop`);
  await dropping.consume(runsOf(request));
  t.strictSame(
    dropping.passed[0]?.items[0]?.spans.map(({ name }) => name),
    ['span 2'],
  );
  t.match(await metricValues(dropping.settings.meter, 'jackdaw_processor_dropped_items_total'), {
    'jackdaw_processor_dropped_items_total{processor="resource",item="spans"}': 1,
  });
  const declared = aTrace(1);
  t.strictSame(await dropping.consume([declared]), { accepted: 1, refused: [] });
  t.equal(dropping.passed.length, 1, 'nothing is passed on');
});

void t.test('rejects an invalid rule with its reason', (t) => {
  const problems = (yaml: string): string => {
    try {
      processorOf(resourceProcessor, 'logs', yaml);
      return '';
    } catch (error) {
      return String(error);
    }
  };
  t.match(problems(`rules: [{ set: { a: 'log.body' } }]`), /there is no variable "log"/);
  t.match(problems(`rules: [{ set: { '': '1' } }]`), /a key must not be empty/);
  t.match(problems(`rules: [{ set: { a: 'identity' } }]`), /not a value/);
  t.match(problems(`rules: [{ when: '"a"', set: { a: '1' } }]`), /must be true or false/);
  t.equal(problems(`rules: [{ set: { a.b: 'identity.user_id' }, delete: [c] }]`), '');
  t.end();
});
