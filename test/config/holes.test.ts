import t from 'tap';
import { partsOfText } from '../../src/config/holes.js';
import { problemsOf, PIPELINE } from '../support/config-problems.js';

/** The expressions in a text; `null` for an unclosed one. */
const holesIn = (text: string) =>
  partsOfText(text).flatMap((part) => (part.isHole ? [part.source ?? null] : []));

void t.test('expressions end where CEL ends them', (t) => {
  t.strictSame(holesIn('a ${{ b }} c ${{d}}'), ['b', 'd']);
  t.strictSame(holesIn('${{ {"a": {"b": 1}} }}'), ['{"a": {"b": 1}}'], 'not at the braces of a map');
  t.strictSame(holesIn(`\${{ "}}" + '}}' + "\\"}}" }}!`), [`"}}" + '}}' + "\\"}}"`], 'nor inside a string');
  t.strictSame(holesIn('${{ """}}"x""" }}'), ['"""}}"x"""']);
  t.strictSame(holesIn('$${{ a }} ${env:A} $ {{ b }} $'), [], 'a doubled $ starts none');
  t.strictSame(holesIn('$$${{ a }}'), ['a']);
  t.strictSame(holesIn('x ${{ a '), [null]);
  t.strictSame(
    partsOfText('a${{ b }}c').map(({ start, end }) => [start, end]),
    [
      [0, 1],
      [1, 9],
      [9, 10],
    ],
  );
  t.end();
});

void t.test('an expression is an error where none is evaluated', async (t) => {
  const thing = (text: string) => `${PIPELINE}extensions: { thing: { text: '${text}' } }\n`;
  t.match(await problemsOf([thing('a ${{ b }}')]), [
    /a\.yaml:\d+:\d+: error: extensions\.thing\.text: .* is not evaluated here/,
  ]);
  t.strictSame(await problemsOf([thing('a $${{ b }}')]), []);
});
