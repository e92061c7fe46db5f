import fc from 'fast-check';
import t from 'tap';
import {
  beginsPiece,
  completedPayload,
  NO_PAYLOAD,
  payloadsOf,
  PayloadWriter,
  lengthOf,
  type GivenPayload,
} from '../../src/runs/rules/payload.js';
import { TextScratch } from '../../src/worker/text-scratch.js';
import { holds, same } from '../support/property.js';

const part = fc.option(fc.oneof(fc.string({ unit: 'binary' }), fc.constant('x'.repeat(300))));
const bytes = fc.uint8Array({ maxLength: 40 });
const ORIGINS = ['', 'one', 'another'].map((text) => new Uint8Array(Buffer.from(text)));
const payload = fc
  .record({
    input: part,
    output: part,
    metadata: part,
    sent: fc.option(bytes),
    origin: fc.constantFrom(...ORIGINS),
  })
  .map((made): GivenPayload => ({ ...made, origin: made.sent === null ? null : made.origin }));

function plain(made: GivenPayload): unknown {
  return Object.fromEntries(
    Object.entries(made).map(([name, value]) => [
      name,
      value === null ? null : Buffer.from(value as string).toString('hex'),
    ]),
  );
}

void t.test('payloads round-trip, and a resource and scope is written once per block', async (t) => {
  holds(
    t,
    fc.property(
      fc.array(payload, { minLength: 1 }),
      fc.integer({ min: 1, max: 2000 }),
      (list, pieceBytes) => {
        const text = new TextScratch(16);
        text.append('before');
        const writer = new PayloadWriter(text);
        const starts: number[] = [];
        for (const each of list) {
          starts.push(text.length);
          writer.write(each, pieceBytes);
        }
        const all = new Uint8Array(text.take());
        const begins = starts.filter((at) => beginsPiece(all[at] ?? 0));
        const pieces = begins.map((at, i) => all.subarray(at, begins[i + 1]));
        same(pieces.flatMap(payloadsOf).map(plain), list.map(plain));
        for (const piece of pieces.slice(0, -1)) same(piece.length >= pieceBytes, true);
        return true;
      },
    ),
  );
  const text = new TextScratch();
  const writer = new PayloadWriter(text);
  const origin = new Uint8Array(1000);
  const given = { input: null, output: null, metadata: null, sent: new Uint8Array(9), origin };
  for (let i = 0; i < 10; i++) writer.write(given, 100_000);
  t.ok(text.length < 1200, 'once');
  const pieces = new TextScratch();
  const cut = new PayloadWriter(pieces);
  const starts = ['question', 'x'.repeat(1000), 'answer'].map((input) => {
    const start = pieces.length;
    cut.write({ ...NO_PAYLOAD, input }, 100, 500);
    return start;
  });
  const written = new Uint8Array(pieces.take());
  t.same(
    starts.map((start) => beginsPiece(written[start] ?? 0)),
    [true, true, true],
    'a long payload has a piece of its own',
  );
  t.equal(payloadsOf(new Uint8Array(text.take())).at(-1)?.origin?.length, 1000);
});

void t.test('throws for an incomplete block', async (t) => {
  t.throws(() => payloadsOf(Uint8Array.of(1, 200, 0, 0, 0, 1)), RangeError);
  t.throws(() => payloadsOf(Uint8Array.of(1, 200)), RangeError);
  t.strictSame(payloadsOf(new Uint8Array()), []);
  t.strictSame(payloadsOf(Uint8Array.of(0)), [NO_PAYLOAD]);
});

void t.test('completes a payload part by part; sent data and metadata are one part', async (t) => {
  const [one, two] = [Uint8Array.of(1), Uint8Array.of(2)];
  const sent = { ...NO_PAYLOAD, sent: one, origin: one };
  t.equal(completedPayload(sent, { ...NO_PAYLOAD, metadata: two }), sent, 'nothing changes');
  t.equal(completedPayload(sent, { ...NO_PAYLOAD, sent: two, origin: two }), sent);
  const written = { ...NO_PAYLOAD, metadata: two };
  t.equal(completedPayload(written, sent), written, 'a batch route span gets no sent bytes');
  t.strictSame(completedPayload({ ...NO_PAYLOAD, input: one }, { ...sent, input: two, output: two }), {
    ...{ input: one, output: two, metadata: null },
    ...{ sent: one, origin: one },
  });
  t.equal(lengthOf({ ...sent, input: new Uint8Array(5) }), 7);
});
