import t from 'tap';
import { spansToTraces } from '../../../src/otlp/map/spans-to-traces.js';
import type { TracesRequest } from '../../../src/otlp/wire/requests.js';
import { decodeProtobuf } from '../../../src/otlp/decode/protobuf.js';
import { aSpan, protobufOf, tracesOf } from '../../support/otlp-requests.js';

/** As a received request. */
function requestOf(texts: readonly string[]): TracesRequest {
  const spans = texts.map((text, index) =>
    aSpan(index + 1, { attributes: [{ key: 'input.value', value: { stringValue: text } }] }),
  );
  return decodeProtobuf('traces', protobufOf('traces', tracesOf(...spans)), 1_000_000);
}

/** The result for each text: parsed JSON or unchanged text. */
function kindsOf(texts: readonly string[]): readonly string[] {
  const { batch } = spansToTraces(requestOf(texts), { tenant: 'somebody', idleTimeoutMs: null });
  return batch.items.flatMap(({ spans }) =>
    spans.map(({ input_data: input }) => (JSON.stringify(input).includes('\\"a') ? 'text' : 'read')),
  );
}

const list = (elements: number): string => `[${'{"a":0},'.repeat(elements)}"a"]`;

void t.test('limits the JSON parsed from texts of a request', async (t) => {
  const small = list(3);
  t.strictSame(kindsOf([small]), ['read']);
  t.strictSame(kindsOf([list(1_500_000)]), ['text'], 'a single text');
  const many = Array.from({ length: 30 }, () => list(50_000));
  const kinds = kindsOf([...many, small]);
  t.equal(kinds.filter((kind) => kind === 'read').length, 20, 'the first of many, and a later one that fits');
  t.strictSame(kindsOf([small, small]), ['read', 'read'], 'the next request starts over');
});

void t.test('invalid JSON counts, too', async (t) => {
  const broken = Array.from({ length: 30 }, () => `${list(50_000)}x`);
  t.strictSame(kindsOf([...broken, list(50_000)]).at(-1), 'text');
});
