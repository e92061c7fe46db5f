import fc from 'fast-check';
import t from 'tap';
import { asciiJson } from '../../src/http/ascii-json.js';
import { ReceivedJson } from '../../src/http/received-json.js';
import { holds } from '../support/property.js';

const parseJsonBytes = (bytes: Uint8Array): unknown =>
  ReceivedJson.whole(bytes, { limits: { nodes: 1_000_000 } }).parse();

/** JSON texts like those of real programs, with characters of one to four bytes, optionally corrupted. */
const texts = fc
  .tuple(
    fc.json({ stringUnit: 'binary', maxDepth: 4 }),
    fc.integer({ min: 0, max: 600 }),
    fc.constantFrom('', '', '’', '\\', '\\’', '"', '\\\\é', '😀', '\uFEFF', ' '),
    fc.nat(),
  )
  .map(([json, padding, wedge, at]) => {
    const text = `[${JSON.stringify('x'.repeat(padding))},${json.toWellFormed()},"’"]`;
    const place = at % (text.length + 1);
    return (text.slice(0, place) + wedge + text.slice(place)).toWellFormed();
  });

function outcome(parse: () => unknown): string {
  try {
    return JSON.stringify(parse());
  } catch {
    return 'no JSON';
  }
}

void t.test('the fast decoder agrees with the ordinary one', async (t) => {
  holds(
    t,
    fc.property(texts, (text) => {
      const plain = text.startsWith('\uFEFF') ? text.slice(1) : text;
      const expected = outcome(() => JSON.parse(plain) as unknown);
      return outcome(() => parseJsonBytes(Buffer.from(text))) === expected;
    }),
  );
});

void t.test('output is ASCII with the same meaning', async (t) => {
  const padding = 'x'.repeat(1000);
  for (const text of [
    'é',
    '’',
    '😀',
    '漢字',
    '\\\\’',
    '\u0080',
    '\u07FF',
    '\u0800',
    '\uFFFF',
    '\u{10FFFF}',
  ]) {
    const json = `{"${padding}":"${text}"}`;
    const ascii = asciiJson(Buffer.from(json));
    t.match(ascii, /^[\x20-\x7e]+$/, text);
    t.same(JSON.parse(ascii ?? ''), JSON.parse(json), text);
  }
});

void t.test('leaves escaped non-ASCII characters to the ordinary decoder', async (t) => {
  const padding = 'x'.repeat(1000);
  t.equal(asciiJson(Buffer.from(`"${padding}\\’"`)), undefined);
  t.equal(asciiJson(Buffer.from(`"${padding}\\\\\\é"`)), undefined);
});

void t.test('leaves mostly non-ASCII text to the ordinary decoder', async (t) => {
  const json = JSON.stringify('漢字'.repeat(500));
  t.equal(asciiJson(Buffer.from(json)), undefined);
  t.same(parseJsonBytes(Buffer.from(json)), JSON.parse(json));
});

void t.test('decodes characters across block boundaries', async (t) => {
  for (let padding = 500; padding < 520; padding++) {
    const json = JSON.stringify('x'.repeat(padding) + '’😀é' + 'y'.repeat(600));
    const ascii = asciiJson(Buffer.from(json));
    t.same(JSON.parse(ascii ?? ''), JSON.parse(json));
  }
});
