import t from 'tap';
import { BUILTIN } from '../../../src/processors/redact/text/builtin.js';
import { TextRedactor } from '../../../src/processors/redact/text/text-redactor.js';
import { LIKE_FORMS, REAL_FORMS } from '../../support/redaction-forms.js';

/** The kinds found in a text. */
function foundIn(text: string): Set<string> {
  const found = new Set<string>();
  new TextRedactor(Object.values(BUILTIN), (kind) => found.add(kind)).redact(text);
  return found;
}

/** Alone, in a sentence and in JSON inside a text. */
const AROUND = [
  (text: string) => text,
  (text: string) => `see ${text} for more`,
  (text: string) => JSON.stringify({ a: [text] }),
];

void t.test(
  'finds documented forms of keys, numbers and addresses of many vendors and countries',
  async (t) => {
    for (const [kind, texts] of Object.entries(REAL_FORMS)) {
      const missed = texts.flatMap((text) =>
        AROUND.map((around) => around(text)).filter((around) => !foundIn(around).has(kind)),
      );
      const recall = 1 - missed.length / (texts.length * AROUND.length);
      t.comment(`${kind}: ${texts.length} forms, recall ${(100 * recall).toFixed(1)} %`);
      t.ok(recall >= 0.98, `${kind}: missed ${missed.join(' | ')}`);
    }
  },
);

void t.test('keeps ids, times, versions, hashes and names', async (t) => {
  const wrong = LIKE_FORMS.flatMap((text) =>
    AROUND.map((around) => around(text)).filter((around) => foundIn(around).size > 0),
  );
  t.comment(`${LIKE_FORMS.length} texts, matches in ${wrong.length}`);
  t.ok(wrong.length / (LIKE_FORMS.length * AROUND.length) <= 0.02, wrong.join(' | '));
});
