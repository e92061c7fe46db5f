import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { deriveMap } from '../../../src/signal/derive-map.js';
import type { JsonObject, JsonValue } from '../../../src/signal/attributes.js';
import type { DerivedMap } from '../../../src/signal/service-map.js';
import { SPAN_TYPES, type SpanRecord } from '../../../src/signal/span.js';
import type { TraceRecord } from '../../../src/signal/trace.js';
import { anyCharacter } from '../../support/any-character.js';
import { holds } from '../../support/property.js';
import { aHeader, aSpanRecord, NOON } from '../../support/run-records.js';

const HOUR = 3_600_000_000;
const WORDS = [
  'orders',
  ' orders ',
  'Orders',
  '',
  '\ud83e',
  'a\0b',
  'x'.repeat(1500),
  '🪶'.repeat(1100),
  'http://orders/x',
  'https://ORDERS:8080/',
  'orders:80',
  '/orders',
  'http://bücher.example',
];

const word = fc.oneof(fc.constantFrom(...WORDS), fc.string({ unit: anyCharacter, maxLength: 8 }));
const value: fc.Arbitrary<JsonValue> = fc.oneof({ weight: 5, arbitrary: word }, fc.constantFrom(null, 1, []));
const objectOf = (...keys: readonly string[]): fc.Arbitrary<JsonObject | null> =>
  fc.option(fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 3 }));

const span = fc.record({
  type: fc.constantFrom(...SPAN_TYPES),
  name: word,
  input_data: objectOf('url', 'system'),
  metadata: objectOf(
    'gen_ai.agent.name',
    'agent.name',
    'service.peer.name',
    'peer.service',
    'server.address',
    'url.full',
    'http.url',
    'db.system.name',
    'db.system',
    'db.namespace',
    'db.name',
  ),
  map_hint: fc.option(
    fc.oneof(
      fc.constantFrom('', '@', '#'),
      fc.tuple(fc.constantFrom('@', '=', '#', '/'), word).map((parts) => parts.join('')),
    ),
    { nil: null, freq: 1 },
  ),
  /** Index of a span, or none. */
  parent: fc.option(fc.nat(30)),
});

const batch: fc.Arbitrary<TraceRecord[]> = fc
  .array(
    fc.record({
      agent: word,
      hours: fc.integer({ min: -600_000, max: 3 }),
      spans: fc.array(span, { maxLength: 30 }),
    }),
    { maxLength: 6 },
  )
  .map((traces) =>
    traces.map(({ agent, hours, spans }) => {
      const trace = aHeader({ agent, started_at: NOON + hours * HOUR });
      const records = spans.map(({ type, name, input_data, metadata, map_hint }) =>
        aSpanRecord(trace.trace_id, { type, name, input_data, metadata, map_hint }),
      );
      const linked = records.map((record, i): SpanRecord => {
        const parent = spans[i]?.parent ?? null;
        return { ...record, parent_span_id: parent === null ? null : (records[parent]?.span_id ?? 'gone') };
      });
      return { trace, spans: linked };
    }),
  );

/** The map of a batch in names, trace by trace. */
function named({ names, nodes, callers }: DerivedMap): string[] {
  const nameOf = (node: number): string => (node < 0 ? String(node) : `=${names[node] ?? 'missing'}`);
  return Array.from(nodes, (node, i) => `${nameOf(node)} < ${nameOf(callers[i] ?? NaN)}`);
}

void t.test('the map of a batch has the nodes and callers of each of its traces', (t) => {
  holds(
    t,
    fc.property(batch, (items) => {
      const map = deriveMap(items);
      return (
        new Set(map.names).size === map.names.length &&
        isDeepStrictEqual(
          named(map),
          items.flatMap((item) => named(deriveMap([item]))),
        )
      );
    }),
  );
  t.end();
});
