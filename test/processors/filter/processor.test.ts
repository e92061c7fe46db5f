import t from 'tap';
import { filterProcessor } from '../../../src/processors/filter/factory.js';
import { anEvent } from '../../support/event-records.js';
import { metricValues } from '../../support/engine.js';
import { aLog } from '../../support/log-records.js';
import { aMetric, aPoint } from '../../support/metric-points.js';
import { mapSpan } from '../../support/mapped-span.js';
import { processorOf } from '../../support/processors.js';
import { readProjectFile } from '../../support/project-file.js';
import { aTrace } from '../../support/run-records.js';

/** Severity number of OTLP. */
const SERVER = 2;
const DROPPED = 'jackdaw_processor_dropped_items_total';
const FAILED = 'jackdaw_processor_expression_errors_total{processor="filter"}';

/** The processor section of the documented example. */
function readmeExample(): string {
  const [, section = ''] =
    /filter\/noise:\n(.*?)\nservice:/s.exec(readProjectFile('src/processors/filter/README.md')) ?? [];
  return section;
}

void t.test('the documented example drops the intended items', async (t) => {
  const traces = processorOf(filterProcessor, 'traces', readmeExample());
  const health = (path: string) =>
    mapSpan({ 'http.request.method': 'GET', 'url.path': path }, { kind: SERVER });
  const kept = health('/orders');
  const items = [
    { ...aTrace(0), spans: [health('/readyz'), kept] },
    aTrace(2, { agent: 'smoke-test' }),
    { ...aTrace(0, { follows_spans: true }), spans: [health('/healthz')] },
    { ...aTrace(0), spans: [health('/healthz')] },
  ];
  const [first, , , last] = items;
  t.strictSame(
    await traces.consume(items),
    { accepted: 4, refused: [] },
    'their sender gets a success response',
  );
  t.strictSame(
    traces.passed.flatMap((batch) => batch.items),
    [
      { trace: first?.trace, spans: [kept] },
      { trace: last?.trace, spans: [] },
    ],
    'a declared header is kept without its spans',
  );
  t.strictSame(await metricValues(traces.settings.meter, DROPPED), {
    [`${DROPPED}{processor="filter",item="traces"}`]: 2,
    [`${DROPPED}{processor="filter",item="spans"}`]: 3,
  });
  t.equal(first?.spans.length, 2, 'no item is changed');

  const logs = processorOf(filterProcessor, 'logs', readmeExample());
  const quiet = [aLog({ severity: 'debug' }), aLog()];
  t.strictSame(await logs.consume([...quiet]), { accepted: 2, refused: [] });
  t.strictSame(logs.passed, [{ tenant: 'a-user', items: quiet.slice(1) }]);

  const metrics = processorOf(filterProcessor, 'metrics', readmeExample());
  const points = [aPoint({ stream: aMetric({ name: 'process.cpu.time' }) })];
  t.strictSame(await metrics.consume(points), { accepted: 1, refused: [] });
  t.strictSame(metrics.passed, [], 'a batch dropped completely is not forwarded');
});

void t.test('drops events by the content that receivers would get', async (t) => {
  const events = processorOf(
    filterProcessor,
    'events',
    `events: ['event.type == "trace.failed" && event.data.agent == "noisy"']`,
  );
  const kept = anEvent(2, 'trace.failed', { agent: 'other' });
  await events.consume([anEvent(1, 'trace.failed', { agent: 'noisy' }), kept]);
  t.strictSame(events.passed[0]?.items, [kept]);
});

void t.test('conditions can use the identity of the sender', async (t) => {
  const { consume, passed } = processorOf(
    filterProcessor,
    'logs',
    `logs: ['identity.key_id == "theirs" || !has(identity.key_id)']`,
  );
  await consume([aLog()], { keyId: 'theirs' });
  await consume([aLog()], {});
  await consume([aLog()], { keyId: 'ours' });
  t.equal(passed.length, 1);
});

void t.test('downstream refusals use the item indexes of the sender', async (t) => {
  const { consume } = processorOf(filterProcessor, 'logs', `logs: ['log.severity == "debug"']`, async () =>
    Promise.resolve({ accepted: 1, refused: [{ index: 1, reason: 'no' }] }),
  );
  const receipt = await consume([aLog({ severity: 'debug' }), aLog(), aLog({ severity: 'debug' }), aLog()]);
  t.strictSame(receipt, { accepted: 3, refused: [{ index: 3, reason: 'no' }] });
});

/** The result for a record whose first condition fails and whose second is true. */
const ON_ERROR = [
  ['keep', { accepted: 2, refused: [] }, 1],
  ['drop', { accepted: 2, refused: [] }, 1],
  [
    'refuse',
    { accepted: 1, refused: [{ index: 0, reason: 'a condition of the filter cannot be evaluated' }] },
    1,
  ],
] as const;

for (const [onError, receipt, passedItems] of ON_ERROR)
  void t.test(`a failing condition: ${onError}`, async (t) => {
    const { consume, passed, settings } = processorOf(
      filterProcessor,
      'logs',
      `{ logs: ['log.attributes.size > 5', 'log.body == "x"'], on_error: ${onError} }`,
    );
    const fine = aLog({ attributes: { size: 1 } });
    t.strictSame(await consume([aLog({ body: 'x' }), fine]), receipt);
    t.strictSame(passed.flatMap(({ items }) => items).length, passedItems);
    t.strictSame(await metricValues(settings.meter, FAILED), { [FAILED]: 1 });
    await consume([aLog({ body: 'secret', attributes: { size: 'secret' } })]);
    t.strictSame(await metricValues(settings.meter, FAILED), { [FAILED]: 2 });
    const warnings = settings.logger.lines.filter((line) => line.includes('expression'));
    t.equal(warnings.length, 1, 'the first is logged');
    t.match(warnings[0], /logs\[0\]/);
    t.notMatch(warnings[0], 'secret');
  });

void t.test('a failing condition on a span refuses its trace', async (t) => {
  const { consume, passed } = processorOf(
    filterProcessor,
    'traces',
    `{ spans: ['span.metadata.size > 5'], on_error: refuse }`,
  );
  const item = aTrace(1);
  t.strictSame(await consume([item]), {
    accepted: 0,
    refused: [{ index: 0, id: item.trace.trace_id, reason: 'a condition of the filter cannot be evaluated' }],
  });
  t.strictSame(passed, []);
});
