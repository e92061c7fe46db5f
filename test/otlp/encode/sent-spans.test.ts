import fc from 'fast-check';
import t from 'tap';
import { decodeProtobuf } from '../../../src/otlp/decode/protobuf.js';
import { encodeBatch, encodeProtobuf, encodeRequest } from '../../../src/otlp/encode/request.js';
import type { ResourceSpans, Span, TracesRequest } from '../../../src/otlp/wire/requests.js';
import type { TracesBatch } from '../../../src/signal/batch.js';
import type { SpanRecord } from '../../../src/signal/span.js';
import { hostileAttributes, hostileSpan } from '../../support/hostile-spans.js';
import { mapSpans } from '../../support/mapped-span.js';
import { FULL } from '../../support/otlp-full-requests.js';
import { aSpan, protobufOf, tracesOf } from '../../support/otlp-requests.js';
import { holds, same } from '../../support/property.js';
import { recordedOtlpTraces } from '../../support/recorded-otlp.js';
import { decodeJson } from '../../../src/otlp/decode/json.js';

const FIELDS = 1_000_000;

function forwarded(batch: TracesBatch): TracesRequest {
  return decodeProtobuf('traces', encodeBatch('traces', batch), FIELDS);
}

/** Each span with its scope and resource, exact to the bit, sorted by id. */
function spansOf(request: TracesRequest, taken: ReadonlySet<string>): string[] {
  const under = ({ resource, scopeSpans, ...rest }: ResourceSpans): string[] =>
    (scopeSpans ?? []).flatMap(({ scope, spans, ...of }) =>
      (spans ?? [])
        .filter((span) => taken.has(idOf(span)))
        .map((span) => printed({ span, scope: scope ?? {}, resource: resource ?? {}, rest, of })),
    );
  return (request.resourceSpans ?? []).flatMap(under).sort();
}

function idOf({ traceId, spanId }: Span): string {
  return [traceId, spanId].map((id) => Buffer.from(id ?? []).toString('hex')).join('/');
}

function printed(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'number' && (!Number.isFinite(each) || Object.is(each, -0))
      ? `number ${String(each)}`
      : each,
  );
}

function roundTrip(request: TracesRequest): void {
  const sent = decodeProtobuf('traces', protobufOf('traces', request), FIELDS);
  const { batch } = mapSpans(sent);
  const taken = new Set(
    batch.items.flatMap(({ trace, spans }) =>
      spans.map(
        ({ span_id }) => `${trace.trace_id.replaceAll('-', '')}/${span_id.replaceAll('-', '').slice(16)}`,
      ),
    ),
  );
  same(spansOf(forwarded(batch), taken), spansOf(sent, taken));
  // Re-encoding spans that cannot be forwarded raw gives the same result.
  const encoded = encodeProtobuf('traces', encodeRequest('traces', batch));
  same(spansOf(decodeProtobuf('traces', encoded, FIELDS), taken), spansOf(sent, taken));
}

void t.test('forwarded requests equal the received bytes', async (t) => {
  t.doesNotThrow(() => {
    roundTrip(FULL.traces);
  });
  const recorded = recordedOtlpTraces();
  for (const [name, text] of recorded)
    t.doesNotThrow(() => {
      roundTrip(decodeJson('traces', JSON.parse(text) as unknown));
    }, name);
  holds(
    t,
    // With duplicate ids the comparison could not tell which span was rejected.
    fc.property(
      fc.uniqueArray(hostileSpan(), { maxLength: 4, selector: idOf }),
      hostileAttributes(),
      (spans, attributes) => {
        const request = { resourceSpans: [{ resource: { attributes }, scopeSpans: [{ spans }] }] };
        try {
          protobufOf('traces', request);
        } catch {
          return true;
        }
        roundTrip(mended(request));
        return true;
      },
    ),
    { numRuns: 400 },
  );
});

/** Normalized by a protobuf round trip. */
function mended(request: TracesRequest): TracesRequest {
  return decodeProtobuf('traces', protobufOf('traces', request), FIELDS);
}

void t.test('only changed values change', async (t) => {
  const attributes = [
    { key: 'two', value: { doubleValue: 2 } },
    { key: 'bytes', value: { bytesValue: Buffer.of(0, 255) } },
    { key: 'gen_ai.operation.name', value: { stringValue: 'chat' } },
  ];
  const changed = (change: (record: SpanRecord) => void): Span | undefined => {
    const { batch } = mapSpans(tracesOf(aSpan(1, { attributes, status: { code: 2, message: 'no' } })));
    for (const { spans } of batch.items) spans.forEach(change);
    return forwarded(batch).resourceSpans?.[0]?.scopeSpans?.[0]?.spans?.[0];
  };
  t.match(
    changed(() => undefined),
    { name: 'span 1', attributes, status: { code: 2, message: 'no' } },
  );
  t.match(
    changed((record) => {
      record.name = 'other';
      record.error_message = 'yes';
    }),
    { name: 'other', attributes, status: { code: 2, message: 'yes' } },
  );
  const without = changed((record) => {
    delete record.metadata?.['two'];
  });
  t.notOk(
    without?.attributes?.some(({ key }) => key === 'two'),
    'removed',
  );
  t.ok(without?.attributes?.some(({ key }) => key === 'gen_ai.operation.name'));
  const scrubbed = ((): unknown => {
    const resource = { attributes: [{ key: 'host.name', value: { stringValue: 'secret' } }] };
    const span = (number: number) => aSpan(number, { attributes });
    const { batch } = mapSpans({
      resourceSpans: [{ resource, scopeSpans: [{ spans: [span(1), span(2)] }] }],
    });
    const first = batch.items[0]?.spans[0]?.metadata?.['resource'];
    delete (first as Record<string, unknown>)['host.name'];
    return forwarded(batch).resourceSpans?.map((each) => [
      each.resource?.attributes?.length ?? 0,
      each.scopeSpans?.[0]?.spans?.length,
    ]);
  })();
  t.same(
    scrubbed,
    [
      [1, 1],
      [0, 1],
    ],
    'nor shared parts of other spans',
  );
  const estimated = changed((record) => {
    record.cost_usd = 1_500_000;
    record.call = { provider: null, usage: null, cost: { source: 'priced', rule: 'a table' } };
  });
  t.match(
    estimated?.attributes?.find(({ key }) => key === 'jackdaw.span.cost_usd'),
    { value: { stringValue: '0.0015' } },
  );
});

void t.test('forwards no status message that was not received', async (t) => {
  for (const status of [{ code: 2 }, { code: 1 }, undefined]) {
    const attributes = [{ key: 'error.message', value: { stringValue: 'an error' } }];
    const { batch } = mapSpans(tracesOf(aSpan(1, { attributes, ...(status && { status }) })));
    const span = forwarded(batch).resourceSpans?.[0]?.scopeSpans?.[0]?.spans?.[0];
    t.equal(span?.status?.message || undefined, undefined);
    t.equal(span?.status?.code, status?.code);
  }
});
