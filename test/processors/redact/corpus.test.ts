import t from 'tap';
import { serializeJson } from '../../../src/signal/json.js';
import type { JsonValue } from '../../../src/signal/attributes.js';
import { redactionOf } from '../../../src/processors/redact/redaction-of.js';
import { BUILTIN_NAMES } from '../../../src/processors/redact/text/builtin.js';
import { falseExamples, trueExamples } from '../../support/redaction-corpus.js';

const { redactor } = redactionOf(
  { builtin: [...BUILTIN_NAMES], patterns: [], keys: [], fields: [] },
  () => undefined,
);

/** Minimum for both. */
const LEAST = 0.98;

void t.test('recall and precision on the examples', async (t) => {
  const present = trueExamples();
  const absent = falseExamples();
  t.ok(present.length >= 200 && absent.length >= 200, '200 of each');
  t.same(new Set(present.map(({ kind }) => kind)), new Set(BUILTIN_NAMES), 'of every kind');
  const missed = present.filter(({ value, gone }) => {
    const left = redactor.value(value);
    return gone.some((text) => textsOf(left).includes(text));
  });
  const wrong = absent.filter(({ value }) => redactor.value(value) !== value);
  const found = present.length - missed.length;
  const recall = found / present.length;
  const precision = found / (found + wrong.length);
  t.comment(
    `recall ${percent(recall)} of ${present.length}, precision ${percent(precision)} with ${absent.length} negatives`,
  );
  for (const { kind, value } of missed) t.comment(`missed: ${kind} ${serializeJson(value)}`);
  for (const { kind, value } of wrong)
    t.comment(`wrong: ${kind} ${serializeJson(value)} is now ${serializeJson(redactor.value(value))}`);
  t.ok(recall >= LEAST, 'recall');
  t.ok(precision >= LEAST, 'precision');
});

/** The readable content of a value: its JSON and its texts. */
function textsOf(value: JsonValue): string {
  return `${serializeJson(value)}\n${strings(value).join('\n')}`;
}

function strings(value: JsonValue): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [String(value)];
  return Object.entries(value).flatMap(([key, child]) => [key, ...strings(child)]);
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}
