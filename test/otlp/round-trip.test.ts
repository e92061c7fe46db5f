import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import t from 'tap';
import { decodeJson } from '../../src/otlp/decode/json.js';
import { decodeProtobuf } from '../../src/otlp/decode/protobuf.js';
import { encodeProtobuf, encodeRequest } from '../../src/otlp/encode/request.js';
import { toKeyValues } from '../../src/otlp/encode/value.js';
import type { TracesBatch } from '../../src/signal/batch.js';
import { hostileAttributes, hostileSpan } from '../support/hostile-spans.js';
import { mapSpans } from '../support/mapped-span.js';
import { aSpan, tracesOf } from '../support/otlp-requests.js';
import { holds } from '../support/property.js';
import { recordedOtlpTraces } from '../support/recorded-otlp.js';

const recorded = recordedOtlpTraces();
const FIELDS = 1_000_000;

/** A forwarded batch as the next Jackdaw receives it. */
function sentOn(batch: TracesBatch): TracesBatch {
  const request = decodeProtobuf('traces', encodeProtobuf('traces', encodeRequest('traces', batch)), FIELDS);
  const { batch: arrived, rejected } = mapSpans(request);
  if (rejected.length > 0) throw new Error(rejected.join());
  return arrived;
}

void t.test(
  'forwarded recorded runs arrive unchanged',
  { skip: recorded.size === 0 && 'the folder of recorded runs is not here' },
  async (t) => {
    for (const [name, text] of recorded) {
      const { batch } = mapSpans(decodeJson('traces', JSON.parse(text) as unknown));
      t.strictSame(plain(sentOn(batch)), plain(batch), name);
    }
  },
);

void t.test('other accepted requests also round-trip', async (t) => {
  holds(
    t,
    fc.property(fc.array(hostileSpan(), { maxLength: 5 }), hostileAttributes(), (spans, resource) => {
      const { batch } = mapSpans({
        resourceSpans: [{ resource: { attributes: resource }, scopeSpans: [{ spans }] }],
      });
      return isDeepStrictEqual(plain(sentOn(batch)), plain(batch));
    }),
    { numRuns: 500 },
  );
});

void t.test('forwards the prompt of a span', async (t) => {
  const attributes = toKeyValues({ 'gen_ai.prompt.name': 'a/b 🪶', 'llm.prompt_template.version': '3' });
  const { batch } = mapSpans(tracesOf(aSpan(1, { attributes })));
  t.match(sentOn(batch).items, [{ spans: [{ prompt: { name: 'a/b 🪶', version: 3 } }] }]);
});

/** Requests may regroup spans, so order is ignored. */
function plain({ items }: TracesBatch): unknown {
  return items
    .map(({ trace, spans }) => ({ trace, spans: spans.toSorted((a, b) => (a.span_id < b.span_id ? -1 : 1)) }))
    .sort((a, b) => (a.trace.trace_id < b.trace.trace_id ? -1 : 1));
}
