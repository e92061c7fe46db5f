import fc from 'fast-check';
import t from 'tap';
import { readText, writeText } from '../../../src/storage/control/any-text.js';
import { ODD_TEXTS } from '../../support/odd-texts.js';

/** Texts with many special characters. */
const texts = fc.oneof(
  fc.string({ unit: fc.constantFrom('\0', '\u0001', '\u0002', 'a') }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom(...ODD_TEXTS),
);

const order = (a: string, b: string): number => Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b)));

void t.test('texts round-trip and are written without U+0000', async () => {
  fc.assert(
    fc.property(texts, (text) => {
      const written = writeText(text);
      return readText(written) === text && !written.includes('\0');
    }),
  );
});

void t.test('written texts keep their order', async () => {
  fc.assert(fc.property(texts, texts, (a, b) => order(writeText(a), writeText(b)) === order(a, b)));
});

void t.test('lone surrogates become U+FFFD', async (t) => {
  t.equal(readText(writeText('a\uD800b')), 'a\uFFFDb');
});
