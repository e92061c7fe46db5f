import t from 'tap';
import { transformProcessor } from '../../../src/processors/transform/factory.js';
import { sentOf } from '../../../src/signal/sent-span.js';
import type { SpanRecord } from '../../../src/signal/span.js';
import { metricValues } from '../../support/engine.js';
import { aLog } from '../../support/log-records.js';
import { mapSpan } from '../../support/mapped-span.js';
import { aMetric, aPoint } from '../../support/metric-points.js';
import { processorOf } from '../../support/processors.js';
import { readProjectFile } from '../../support/project-file.js';
import { aHeader, aSpanRecord } from '../../support/run-records.js';

/** The result of rules for a span. */
async function changed(rules: string, span: SpanRecord, more = ''): Promise<SpanRecord | undefined> {
  const { consume, passed } = processorOf(transformProcessor, 'traces', `spans: ${rules}\n${more}`);
  await consume([{ trace: aHeader(), spans: [span] }]);
  return passed[0]?.items[0]?.spans[0];
}

function problems(yaml: string): string {
  try {
    processorOf(transformProcessor, 'traces', yaml);
    return '';
  } catch (error) {
    return String(error);
  }
}

void t.test('the example of the README works', async (t) => {
  const text =
    /transform\/team:\n(.*?)\nservice:/s.exec(readProjectFile('src/processors/transform/README.md'))?.[1] ??
    '';
  const traces = processorOf(transformProcessor, 'traces', text);
  const ours = aSpanRecord('t', { name: 'answer', metadata: { team: 'ours', usr: 'u1', kept: 1 } });
  const other = aSpanRecord('t', { name: 'answer', metadata: null });
  await traces.consume([{ trace: aHeader({ metadata: { a: 1 } }), spans: [ours, other] }]);
  const item = traces.passed[0]?.items[0];
  t.strictSame(item?.trace.metadata, { a: 1, region: 'eu' });
  t.match(item?.spans[0], { name: 'ours: answer', metadata: { user_id: 'u1', kept: 1 } });
  t.strictSame(Object.keys(item?.spans[0]?.metadata ?? {}), ['kept', 'user_id']);
  t.match(item?.spans[1], { name: 'answer', metadata: null });

  const metrics = processorOf(transformProcessor, 'metrics', text);
  await metrics.consume([
    aPoint({
      stream: aMetric({ name: 'http.server.duration' }),
      attributes: { a: 1, 'net.peer.port': 81 },
    }),
  ]);
  t.match(metrics.passed[0]?.items[0], {
    stream: { name: 'http.server.request.duration' },
    attributes: { a: 1 },
  });

  const logs = processorOf(transformProcessor, 'logs', text);
  const log = aLog({ attributes: { a: 1 } });
  await logs.consume([log]);
  t.strictSame(logs.passed[0]?.items[0]?.attributes, { a: 1, team: 'payments' });
});

void t.test('a path is one key if it exists, and descends otherwise', async (t) => {
  const metadata = {
    'http.route': '/x',
    http: { method: 'GET', route: 'inside' },
    'a.b': { 'c.d': 1, e: 2 },
  };
  const after = await changed(
    `[{ set: { metadata.http.route: '"/y"', metadata.http.method: '"PUT"', metadata.new.key: '1' }, delete: [metadata.a.b.c.d] }]`,
    aSpanRecord('t', { metadata: structuredClone(metadata) }),
  );
  t.strictSame(after?.metadata, {
    'a.b': { e: 2 },
    'http.route': '/y',
    http: { route: 'inside', method: 'PUT' },
    'new.key': 1,
  });
});

void t.test('computes all values before setting any, and later rules see them', async (t) => {
  const after = await changed(
    `[{ set: { metadata.a: 'span.metadata.b', metadata.b: 'span.metadata.a' } }, { set: { metadata.sum: 'span.metadata.a + "," + span.metadata.b' } }]`,
    aSpanRecord('t', { metadata: { a: 'x', b: 'y' } }),
  );
  t.strictSame(after?.metadata, { a: 'y', b: 'x', sum: 'y,x' });
});

void t.test('values of every type become JSON', async (t) => {
  const after = await changed(
    `[{ set: { metadata.int: '7', metadata.double: '0.5', metadata.list: '[1, 2]', metadata.map: '{"a": {"b": true}}', metadata.time: 'span.started_at', metadata.none: 'null', metadata.large: '9007199254740993', metadata.tags: 'span.tags', metadata.in: 'span.input_data' } }]`,
    aSpanRecord('t', { input_data: { q: [1] } }),
  );
  t.strictSame(after?.metadata, {
    int: 7,
    double: 0.5,
    list: [1, 2],
    map: { a: { b: true } },
    time: '2026-01-15T12:00:00Z',
    none: null,
    large: 9_007_199_254_740_993n,
    tags: [],
    in: { q: [1] },
  });
});

void t.test('keeps the raw span if nothing of it changes', async (t) => {
  const untouched = await changed(
    `[{ set: { name: '"a" + span.metadata["http.route"]' }, delete: [metadata.nobody], rename: { metadata.no: metadata.yes } }]`,
    mapSpan({ 'http.route': '/x' }),
  );
  t.equal(untouched?.name, 'a/x');
  t.ok(untouched && sentOf(untouched));
  const touched = await changed(
    `[{ delete: [metadata.http.route] }]`,
    mapSpan({ 'http.route': '/x', kept: 1 }),
  );
  t.equal(touched && sentOf(touched), undefined);
  t.equal(touched?.metadata?.['http.route'], undefined);
  t.equal(touched?.metadata?.['kept'], 1);
});

void t.test('sets and deletes whole fields', async (t) => {
  const after = await changed(
    `[{ delete: [input_data, output_data, error_message], set: { name: '"  spaced  "' } }]`,
    aSpanRecord('t', { input_data: { a: 1 }, output_data: { a: 1 }, error_message: 'x' }),
  );
  t.match(after, { input_data: null, output_data: null, error_message: null, name: 'spaced' });
  const { consume, passed } = processorOf(
    transformProcessor,
    'logs',
    `logs: [{ set: { body: '{"was": log.body}' } }]`,
  );
  await consume([aLog({ body: 'x' })]);
  t.strictSame(passed[0]?.items[0]?.body, { was: 'x' });
});

void t.test('labels of points follow attributes, and points of one stream share its copy', async (t) => {
  const { consume, passed } = processorOf(
    transformProcessor,
    'metrics',
    `points:
  - { set: { name: '"new." + point.name', attributes.list: '[1]' }, delete: [attributes.gone, unit] }
  - { when: 'point.name == "new.cpu.load"', rename: { attributes.a: attributes.b } }
  - { when: 'point.value > 1.0', set: { description: '"large"' } }
`,
  );
  const stream = aMetric();
  const attributes = () => ({ a: true, gone: 1 });
  const points = [1, 1, 2].map((value) => aPoint({ stream, value, attributes: attributes() }));
  await consume(points);
  const [first, second, third] = passed[0]?.items ?? [];
  t.match(first?.stream, { name: 'new.cpu.load', unit: '', description: 'Load of the processor' });
  t.strictSame(first?.attributes, { b: true, list: [1] });
  t.strictSame(first?.labels, { b: 'true', list: '[1]', service_name: 'checkout' });
  t.equal(first?.stream, second?.stream);
  t.match(third?.stream, { name: 'new.cpu.load', description: 'large' });
  t.match(stream, { name: 'cpu.load', unit: '1' }, 'the sent stream is unchanged');
});

void t.test('points without changes stay identical', async (t) => {
  const { consume, passed } = processorOf(
    transformProcessor,
    'metrics',
    `points: [{ set: { name: 'point.name' }, delete: [attributes.gone], rename: { attributes.x: attributes.y } }, { when: 'false', delete: [unit] }]`,
  );
  const stream = aMetric();
  const point = aPoint({ stream, attributes: { a: 1 } });
  const { labels, attributes } = point;
  await consume([point]);
  t.equal(passed[0]?.items[0], point);
  t.equal(point.stream, stream);
  t.equal(point.labels, labels);
  t.equal(point.attributes, attributes);
});

void t.test('a failing expression drops or refuses a point', async (t) => {
  const points = `points: [{ set: { name: 'string(point.attributes.name)' } }]`;
  const batch = () => [aPoint(), aPoint({ attributes: { name: 'given' } })];
  const refusing = processorOf(transformProcessor, 'metrics', `${points}\non_error: refuse`);
  t.match(await refusing.consume(batch()), { accepted: 1, refused: [{ index: 0 }] });
  const dropping = processorOf(transformProcessor, 'metrics', `${points}\non_error: drop`);
  t.strictSame(await dropping.consume(batch()), { accepted: 2, refused: [] });
  t.strictSame(
    dropping.passed[0]?.items.map(({ stream }) => stream.name),
    ['given'],
  );
});

void t.test('a failing expression skips its rule, or drops or refuses the item', async (t) => {
  const rules = `[{ set: { metadata.a: '1', name: 'span.metadata.missing' } }, { set: { metadata.b: '2' } }]`;
  const span = () => aSpanRecord('t', { name: 'n' });
  t.match(await changed(rules, span()), { name: 'n', metadata: { b: 2 } });
  t.strictSame((await changed(rules, span()))?.metadata, { b: 2 });
  t.equal(await changed(rules, span(), 'on_error: drop'), undefined);
  t.equal(
    await changed(`[{ set: { name: '" "' } }]`, span(), 'on_error: drop'),
    undefined,
    'an empty name fails, too',
  );

  const refusing = processorOf(transformProcessor, 'traces', `{ spans: ${rules}, on_error: refuse }`);
  const receipt = await refusing.consume([{ trace: aHeader(), spans: [span()] }]);
  t.match(receipt, { accepted: 0, refused: [{ index: 0, reason: /cannot be evaluated/ }] });
  t.match(await metricValues(refusing.settings.meter, 'jackdaw_processor_expression_errors_total'), {
    'jackdaw_processor_expression_errors_total{processor="transform"}': 1,
  });

  const dropping = processorOf(transformProcessor, 'traces', `{ spans: ${rules}, on_error: drop }`);
  t.strictSame(await dropping.consume([{ trace: aHeader(), spans: [span()] }]), { accepted: 1, refused: [] });
  t.match(await metricValues(dropping.settings.meter, 'jackdaw_processor_dropped_items_total'), {
    'jackdaw_processor_dropped_items_total{processor="transform",item="spans"}': 1,
  });
});

void t.test('rejects an invalid rule with its reason', async (t) => {
  t.match(problems(`spans: [{ set: { nam: '"x"' } }]`), /"nam" cannot be changed; did you mean "name"\?/);
  t.match(problems(`spans: [{ set: { name: '5' } }]`), /name is a text, but this is a int/);
  t.match(problems(`spans: [{ set: { metadata.a: 'span.typ' } }]`), /span has no field "typ"/);
  t.match(problems(`spans: [{ set: { metadata.a: 'span' } }]`), /a span is not a value/);
  t.match(problems(`spans: [{ set: { metadata: '{}' } }]`), /sets a whole object/);
  t.match(problems(`spans: [{ when: 'span.name', delete: [metadata.a] }]`), /must be true or false/);
  t.match(problems(`spans: [{ rename: { name: metadata.a } }]`), /only keys can be renamed/);
  t.match(problems(`spans: [{ delete: [name] }]`), /there is nothing without a name/);
  t.match(problems(`spans: [{ delete: [name.x] }]`), /is a text without keys/);
  t.match(problems(`points: [{ set: { value: '1.0' } }]`), /"value" cannot be changed/);
  t.match(problems(`points: [{ set: { attributes.x: 'log.body' } }]`), /there is no variable "log"/);
  t.match(problems(`logs: [{ set: { attributes.x: 'span.name' } }]`), /there is no variable "span"/);
  t.equal(problems(`spans: [{ set: { metadata.a: 'resource["x"]' } }]`), '');
});
