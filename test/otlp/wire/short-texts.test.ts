import fc from 'fast-check';
import t from 'tap';
import { ShortTexts } from '../../../src/otlp/wire/short-texts.js';
import { anyCharacter } from '../../support/any-character.js';

void t.test('finds exactly the text of the given bytes', async (t) => {
  const text = fc.oneof(
    fc.constantFrom('', 'a', 'gen_ai.request.model', 'Ünïcode', '🪶', 'x'.repeat(64), 'x'.repeat(65)),
    fc.string({ maxLength: 70 }),
    fc.string({ maxLength: 3, unit: anyCharacter }),
  );
  const found = fc.check(
    fc.property(fc.array(text, { minLength: 1, maxLength: 200 }), (texts) => {
      const short = new ShortTexts();
      return texts.every((one) => {
        const bytes = Buffer.from(`<${one}>`);
        const known = short.find(bytes, 1, bytes.length - 1);
        if (known === undefined) short.put(one);
        return known === undefined || known === one;
      });
    }),
    { numRuns: 500 },
  );
  t.notOk(found.failed, fc.defaultReportMessage(found) ?? '');
});

void t.test('interned texts are shared', async (t) => {
  const short = new ShortTexts();
  const bytes = Buffer.from('service.name and more');
  t.equal(short.find(bytes, 0, 12), undefined);
  short.put('service.name');
  t.equal(short.find(bytes, 0, 12), 'service.name');
  t.equal(short.find(bytes, 0, 11), undefined);
  t.equal(short.find(Buffer.from('ü'.repeat(40)), 0, 80), undefined, 'long');
  short.put('must not be remembered');
  t.equal(short.find(Buffer.from('ü'.repeat(40)), 0, 80), undefined);
});
