import fc from 'fast-check';
import t from 'tap';
import { Database } from '../../src/storage/duckdb/database.js';
import { withLiterals } from '../../src/storage/duckdb/meta/literals.js';
import { anyCharacter } from '../support/any-character.js';
import { neverDiffers, same } from '../support/property.js';
import { testFolder } from '../support/test-folder.js';

/** Texts that could end one, begin a comment, or look like a parameter. */
const TRICKS = [
  "'",
  "''",
  '?',
  '$$',
  '--',
  '/*',
  '\\',
  '\n',
  ';',
  '\u00a0',
  '\ufeff',
  '\u2028',
  "' OR ''='",
  '🪶',
];

void t.test('a value that stands in a statement is the one that comes back', async (t) => {
  const path = `${testFolder(t)}/literals.duckdb`;
  const database = await Database.open({ path, memoryLimit: '64MiB', threads: 1 });
  t.teardown(() => {
    database.close();
  });
  const connection = await database.connect();
  const text = fc
    .array(fc.oneof(fc.constantFrom(...TRICKS), fc.string({ unit: anyCharacter, maxLength: 5 })), {
      maxLength: 8,
    })
    .map((parts) => parts.join('').toWellFormed().replaceAll('\0', ''));
  const number = fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }));
  await neverDiffers(t, { runs: 500, ms: 5_000 }, [text, text, number, fc.boolean()], async (...values) => {
    const [one, other, amount, flag] = values;
    // A question mark between quotes is none of the places.
    const sql = withLiterals(
      `SELECT '.?' || ? AS one, '''?' || ? AS other, ?::DOUBLE AS amount, ? AS flag, ? AS nothing`,
      [one, other, amount, flag, null],
    );
    const [row] = await connection.rows(sql ?? 'SELECT 1');
    same(row, { one: `.?${one}`, other: `'?${other}`, amount, flag, nothing: null });
  });
});

void t.test('a text with U+0000 cannot stand in a statement', async (t) => {
  t.equal(withLiterals('SELECT ?', ['a\0b']), null);
  t.equal(withLiterals('SELECT ?, ?', [1, 'ab']), "SELECT 1, 'ab'");
});
