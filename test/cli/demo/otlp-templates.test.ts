import t from 'tap';
import type { BodyTemplate } from '../../../bench/body-template.js';
import { FreshIds, NanoTime, TimeText } from '../../../bench/fresh-values.js';
import { LOAD_KINDS, type LoadPlan } from '../../../bench/load-plan.js';
import { FREQUENT_WORD, RARE_WORD } from '../../../bench/otlp-logs-template.js';
import { WORKLOADS } from '../../../bench/workload.js';
import { decodeProtobuf } from '../../../src/otlp/decode/protobuf.js';
import { int64ToNumber } from '../../../src/otlp/wire/int64.js';
import { hexOf } from '../../../src/otlp/wire/ids.js';
import type { Log, NumberPoint, Span } from '../../../src/otlp/wire/requests.js';

const NOW_MS = Date.UTC(2026, 10, 20, 12);
const ITEMS = 200;
const MANY_FIELDS = 1_000_000;
const FRESH = { ids: new FreshIds(), times: new TimeText(), nanos: new NanoTime() };

function templateOf(kind: LoadPlan['kind']): BodyTemplate {
  const plan: LoadPlan = {
    kind,
    url: '',
    key: '',
    seed: 'templates',
    connections: 1,
    itemsPerRequest: ITEMS,
    templates: 1,
    warmupSeconds: 0,
    times: 'now',
    samples: 0,
  };
  return WORKLOADS[kind].templates(plan).next().value;
}

function spansOf(template: BodyTemplate): readonly Span[] {
  const { resourceSpans } = decodeProtobuf('traces', template.bytes, MANY_FIELDS);
  return (resourceSpans ?? []).flatMap(({ scopeSpans }) =>
    (scopeSpans ?? []).flatMap(({ spans }) => spans ?? []),
  );
}

function pointsOf(template: BodyTemplate): readonly NumberPoint[] {
  const { resourceMetrics } = decodeProtobuf('metrics', template.bytes, MANY_FIELDS);
  return (resourceMetrics ?? []).flatMap(({ scopeMetrics }) =>
    (scopeMetrics ?? []).flatMap(({ metrics }) =>
      (metrics ?? []).flatMap(
        ({ gauge, sum, histogram }): readonly NumberPoint[] => (gauge ?? sum ?? histogram)?.dataPoints ?? [],
      ),
    ),
  );
}

function recordsOf(template: BodyTemplate): readonly Log[] {
  const { resourceLogs } = decodeProtobuf('logs', template.bytes, MANY_FIELDS);
  return (resourceLogs ?? []).flatMap(({ scopeLogs }) =>
    (scopeLogs ?? []).flatMap(({ logRecords }) => logRecords ?? []),
  );
}

const milliseconds = (nanos: Span['startTimeUnixNano']): number =>
  Math.round(int64ToNumber(nanos ?? 0) / 1e6);

void t.test('every kind builds bodies with the requested items and a constant length', async (t) => {
  for (const kind of LOAD_KINDS) {
    const template = templateOf(kind);
    const { length } = template.bytes;
    t.equal(template.items, ITEMS, kind);
    for (let number = 0; number < 3; number += 1)
      template.refresh({ ...FRESH, number, startMs: () => NOW_MS + number });
    t.equal(template.bytes.length, length, kind);
  }
});

void t.test('spans: whole trees with new ids and moved times, about 20 attributes each', async (t) => {
  const template = templateOf('traces');
  const seen = new Set<string>();
  let before: readonly Span[] | undefined;
  for (let round = 0; round < 3; round += 1) {
    template.refresh({ ...FRESH, number: round, startMs: () => NOW_MS + round });
    const spans = spansOf(template);
    t.equal(spans.length, ITEMS);
    const ids = new Map(
      spans.map((span) => [hexOf(span.spanId ?? Buffer.of()), hexOf(span.traceId ?? Buffer.of())]),
    );
    t.equal(ids.size, ITEMS, 'every id once');
    t.equal(new Set(ids.values()).size, template.units, 'as many traces as units');
    for (const id of [...ids.keys(), ...new Set(ids.values())]) {
      t.notOk(seen.has(id), 'no id is reused');
      seen.add(id);
    }
    let roots = 0;
    for (const span of spans) {
      const parent = hexOf(span.parentSpanId ?? Buffer.of());
      if (parent === '') roots += 1;
      else t.equal(ids.get(parent), hexOf(span.traceId ?? Buffer.of()), 'the parent is in the same trace');
      const count = span.attributes?.length ?? 0;
      t.ok(count >= 15 && count <= 25, `${count} attributes`);
      t.ok(milliseconds(span.startTimeUnixNano) >= NOW_MS + round);
      t.ok(milliseconds(span.endTimeUnixNano) >= milliseconds(span.startTimeUnixNano));
    }
    t.equal(roots, template.units, 'one root per trace');
    t.same(
      spans.map(({ name }) => name),
      (before ?? spans).map(({ name }) => name),
    );
    before = spans;
    const sample = template.sample();
    const traceId = sample?.traceId.replaceAll('-', '');
    t.equal([...ids.values()].filter((id) => id === traceId).length, sample?.spans, 'a sample is complete');
  }
});

void t.test('points: several hundred series, all at the requested time', async (t) => {
  const template = templateOf('metrics');
  template.refresh({ ...FRESH, number: 0, startMs: () => NOW_MS });
  const points = pointsOf(template);
  t.equal(points.length, ITEMS);
  t.ok(points.every((point) => milliseconds(point.timeUnixNano) === NOW_MS));
});

void t.test(
  'records: a tenth contain the frequent word, one of each hundredth request the rare one',
  async (t) => {
    const template = templateOf('logs');
    const count = (bodies: readonly string[], word: string) =>
      bodies.filter((body) => body.includes(word)).length;
    const seen = new Set<string>();
    for (const number of [0, 1, 99, 100]) {
      template.refresh({ ...FRESH, number, startMs: (at) => NOW_MS + Math.round(at * ITEMS) });
      const records = recordsOf(template);
      t.equal(records.length, ITEMS);
      const bodies = records.map(({ body }) => body?.stringValue ?? '');
      t.equal(count(bodies, FREQUENT_WORD), ITEMS / 10);
      t.equal(count(bodies, RARE_WORD), number % 100 === 0 ? 1 : 0, `request ${number}`);
      const length = bodies.reduce((sum, body) => sum + body.length, 0) / ITEMS;
      t.ok(length > 90 && length < 150, `${length} characters on average`);
      records.forEach((record, index) => {
        t.equal(milliseconds(record.timeUnixNano), NOW_MS + index);
        t.equal(milliseconds(record.observedTimeUnixNano), NOW_MS + index);
      });
      const ids = bodies.flatMap((body) => /\[([0-9a-f]{16})\]$/.exec(body)?.[1] ?? []);
      t.equal(ids.length, ITEMS / 4);
      for (const id of ids) {
        t.notOk(seen.has(id), 'request ids are unique');
        seen.add(id);
      }
    }
  },
);
