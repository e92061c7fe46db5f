import fc from 'fast-check';
import t from 'tap';
import { inPlaceOfStar, NamePatterns } from '../../../src/otlp/map/name-patterns.js';

void t.test('matches names by patterns', async (t) => {
  const cases: readonly (readonly [pattern: string, fits: readonly string[], others: readonly string[]])[] = [
    ['run', ['run', 'RUN', ' Run '], ['runs', '', 'a run']],
    ['*.run', ['a.run', '.run', 'a.run.run'], ['run', 'a.run.b']],
    ['step *', ['step 1', 'Step 1 2 '], ['step', 'step ', 'a step 1']],
    ['*', ['', 'anything'], []],
    ['a*a', ['aa', 'aba', 'a*a'], ['a', 'ab']],
    ['a*b*c', ['abc', 'a-b-b-c', 'a\nbc'], ['acb', 'ab', 'ac']],
    ['**', ['', 'x'], []],
    ['a.c', ['a.c'], ['abc']],
  ];
  for (const [pattern, fits, others] of cases) {
    const patterns = new NamePatterns([pattern]);
    for (const name of fits) t.ok(patterns.has(name), `${pattern} matches ${JSON.stringify(name)}`);
    for (const name of others)
      t.notOk(patterns.has(name), `${pattern} does not match ${JSON.stringify(name)}`);
  }
  t.notOk(new NamePatterns([]).has(''));
});

void t.test('matches like a regular expression', async () => {
  const part = fc.string({ unit: fc.constantFrom('a', 'b', '*', '.'), maxLength: 6 });
  fc.assert(
    fc.property(part, fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 8 }), (pattern, name) => {
      const escaped = pattern.split('*').map((text) => text.replaceAll('.', '\\.'));
      return new NamePatterns([pattern]).has(name) === new RegExp(`^${escaped.join('.*')}$`, 's').test(name);
    }),
  );
});

void t.test('returns the text in place of the star', async (t) => {
  t.equal(inPlaceOfStar('agent_run [x y]', 'agent_run [*]'), 'x y');
  t.equal(inPlaceOfStar('Agent_Run [X]', 'agent_run [*]'), 'X');
  t.equal(inPlaceOfStar('A.RUN', '*.run'), 'A');
  t.equal(inPlaceOfStar('.run', '*.run'), undefined, 'empty is not a name');
  t.equal(inPlaceOfStar('run', '*.run'), undefined);
  t.equal(inPlaceOfStar('İ.run', '*.run'), undefined, 'a letter that grows in lower case');
});
