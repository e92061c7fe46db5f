import fc from 'fast-check';
import t from 'tap';
import { Literals } from '../../../src/processors/redact/text/literals.js';

/** Few letters, so that literals overlap and contain each other. */
const letters = fc.constantFrom('a', 'b', '-', '_', 'Z', 'é');
const literal = fc.string({ unit: fc.constantFrom('a', 'b', '-', '_', 'Z'), minLength: 2, maxLength: 4 });

void t.test('finds every occurrence of every literal and nothing else', async () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(literal, { minLength: 1, maxLength: 12 }),
      fc.string({ unit: letters, maxLength: 60 }),
      (literals, text) => {
        const found = [...new Literals(literals).in(text)].map(({ at, which }) => `${at} ${which}`);
        const there = literals.flatMap((one, which) =>
          [...Array(text.length).keys()].flatMap((at) =>
            text.startsWith(one, at) ? [`${at} ${which}`] : [],
          ),
        );
        return found.sort().join() === there.sort().join();
      },
    ),
  );
});
