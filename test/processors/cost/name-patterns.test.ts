import fc from 'fast-check';
import t from 'tap';
import { namePattern } from '../../../src/processors/cost/name-pattern.js';
import { holds } from '../../support/property.js';

const FIT: readonly [pattern: string, names: readonly string[]][] = [
  ['gpt-5', ['gpt-5', 'GPT-5', 'openai/gpt-5', 'openrouter/openai/gpt-5']],
  ['gpt-5-20*', ['gpt-5-2025-08-07', 'gpt-5-20']],
  [
    '*claude-opus-4-5*',
    ['claude-opus-4-5', 'us.anthropic.claude-opus-4-5-20251101-v1:0', 'a/claude-opus-4-5@1'],
  ],
  ['groq/*', ['groq/llama', 'GROQ/x', 'groq/']],
  ['a*b*c', ['abc', 'a-b-c', 'abbcc', 'axbxbxc']],
  ['a.b+c(d)[e]', ['A.B+C(D)[E]']],
  ['*', ['', 'anything', 'a/b']],
  ['a**b', ['ab', 'a-b']],
];

const DO_NOT: readonly [pattern: string, names: readonly string[]][] = [
  ['gpt-5', ['gpt-5-mini', 'gpt-50', 'my-gpt-5', 'gpt-5/fast', '']],
  ['gpt-5-20*', ['gpt-5', 'gpt-5-mini-2025']],
  ['groq/*', ['groq', 'x/groq/llama', 'llama']],
  ['a*b*c', ['ac', 'acb', 'a-c-b', 'bc']],
  ['a.b', ['axb']],
  ['aba*aba', ['aba', 'ababa']],
  ['*ab*ba', ['aba']],
];

void t.test('a pattern matches only the intended names', async (t) => {
  for (const [pattern, names] of FIT)
    for (const name of names) t.ok(namePattern(pattern)(name), `${pattern} matches "${name}"`);
  for (const [pattern, names] of DO_NOT)
    for (const name of names) t.notOk(namePattern(pattern)(name), `${pattern} does not match "${name}"`);
});

void t.test('matches like a regular expression', async (t) => {
  const text = fc.string({ unit: fc.constantFrom('a', 'b', 'A', '.', '*'), maxLength: 8 });
  const name = fc.string({ unit: fc.constantFrom('a', 'b', 'A', '.'), maxLength: 10 });
  holds(
    t,
    fc.property(text, name, (pattern, candidate) => {
      const source = pattern
        .split('*')
        .map((part) => part.replaceAll('.', '\\.'))
        .join('.*');
      return namePattern(pattern)(candidate) === new RegExp(`^${source}$`, 'i').test(candidate);
    }),
    { numRuns: 2000 },
  );
});

void t.test('matches adversarial names in linear time', async (t) => {
  const fits = namePattern('*a*a*a*a*a*a*a*a*b');
  t.notOk(fits('a'.repeat(1024 * 1024)));
});
