import fc from 'fast-check';
import t from 'tap';
import { ColumnsReader } from '../../src/worker/columns-reader.js';
import { ColumnsWriter, encodeRows } from '../../src/worker/columns-writer.js';
import { transferables, type Column, type ColumnKind } from '../../src/worker/columns.js';
import { TextScratch } from '../../src/worker/text-scratch.js';
import { formatUuid, parseUuid } from '../../src/worker/uuid-words.js';
import { anyCharacter } from '../support/any-character.js';
import { holds } from '../support/property.js';

const VALUES: Readonly<Record<ColumnKind, fc.Arbitrary<string | number | boolean>>> = {
  uuid: fc.uuid(),
  int64: fc.oneof(
    fc.maxSafeInteger(),
    fc.constantFrom(
      0,
      -1,
      2 ** 32,
      -(2 ** 32),
      2 ** 32 - 1,
      Number.MAX_SAFE_INTEGER,
      Number.MIN_SAFE_INTEGER,
    ),
  ),
  int32: fc.integer(),
  uint32: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  float64: fc.double({ noNaN: true }),
  uint8: fc.integer({ min: 0, max: 255 }),
  bool: fc.boolean(),
  text: fc.oneof(fc.string({ unit: anyCharacter }), fc.constantFrom('', '\0', 'ä'.repeat(5000), '🪶')),
};

const table = fc
  .array(fc.tuple(fc.constantFrom(...(Object.keys(VALUES) as ColumnKind[])), fc.boolean()), { maxLength: 8 })
  .map((kinds) =>
    kinds.map(([kind, isNullable], i): Column => ({
      name: `c${i}`,
      kind,
      sql: '',
      ...(isNullable ? { nullable: true as const } : {}),
    })),
  )
  .chain((columns) =>
    fc.record({
      columns: fc.constant(columns),
      rows: fc.array(
        fc.record(
          Object.fromEntries(
            columns.map(({ name, kind, nullable }) => [
              name,
              nullable ? fc.option(VALUES[kind]) : VALUES[kind],
            ]),
          ),
        ),
        { maxLength: 20 },
      ),
    }),
  );

void t.test('rows survive encoding into columns, also transferred', async (t) => {
  holds(
    t,
    fc.property(table, ({ columns, rows }) => {
      const encoded = encodeRows(columns, rows);
      const message = structuredClone(encoded, { transfer: transferables(encoded) });
      const reader = new ColumnsReader(columns, message);
      const read = Array.from({ length: reader.rows }, (_, i) => reader.row(columns, i));
      t.same(read.map(plain), rows.map(plain));
      return read.every((row, i) =>
        columns.every(({ name }) => Object.is(row[name], plain(rows[i] ?? {})[name])),
      );
    }),
  );
});

/** UTF-8 has no lone surrogates. */
function plain(row: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === 'string' ? value.toWellFormed() : value,
    ]),
  );
}

const uuid = fc.bigInt({ min: 0n, max: 2n ** 128n - 1n }).map((value) => {
  const hex = value.toString(16).padStart(32, '0');
  const text = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join(
    '-',
  );
  return { value, text };
});

void t.test('UUID words equal the 128-bit integer with the highest bit flipped', async (t) => {
  holds(
    t,
    fc.property(uuid, fc.nat(3), fc.boolean(), ({ value, text }, offset, isUpper) => {
      const words = new Uint32Array(8).fill(7);
      parseUuid(isUpper ? text.toUpperCase() : text, words, offset);
      const stored = [3, 2, 1, 0].reduce((sum, i) => (sum << 32n) + BigInt(words[offset + i] ?? 0), 0n);
      const others = [...words].filter((_, i) => i < offset || i >= offset + 4);
      return (
        stored === (value ^ (1n << 127n)) &&
        formatUuid(words, offset) === text &&
        others.every((word) => word === 7)
      );
    }),
  );
});

void t.test('stored UUIDs sort like their texts', async (t) => {
  const signed = (text: string): bigint => {
    const words = new Uint32Array(4);
    parseUuid(text, words, 0);
    return BigInt.asIntN(
      128,
      [3, 2, 1, 0].reduce((sum, i) => (sum << 32n) + BigInt(words[i] ?? 0), 0n),
    );
  };
  holds(
    t,
    fc.property(uuid, uuid, (a, b) => a.text < b.text === signed(a.text) < signed(b.text)),
  );
});

void t.test('texts larger than the scratch buffer grow it and keep earlier content', async (t) => {
  const column: Column = { name: 'text', kind: 'text', sql: '' };
  const scratch = new TextScratch();
  for (const texts of [
    ['a', 'ß'.repeat(100_000), 'b', '漢'.repeat(300_000), ''],
    ['short', 'again'],
  ]) {
    const writer = new ColumnsWriter([column], texts.length, scratch);
    texts.forEach((text, row) => {
      writer.text(0, row, text);
    });
    const message = writer.finish();
    const reader = new ColumnsReader([column], message);
    t.same(
      texts.map((_, row) => reader.value(0, row)),
      texts,
    );
    t.equal(message.text.byteLength, Buffer.byteLength(texts.join('')));
  }
});

void t.test('a text can be written by the caller', async (t) => {
  const columns: readonly Column[] = [
    { name: 'a', kind: 'text', sql: '' },
    { name: 'b', kind: 'text', sql: '', nullable: true },
  ];
  const scratch = new TextScratch();
  const writer = new ColumnsWriter(columns, 2, scratch);
  scratch.append('shared');
  scratch.appendByte(10);
  scratch.appendBytes(Buffer.from('bytes'));
  writer.span(0, 0, 0, 6);
  writer.span(0, 1, 7, 12);
  writer.isNull(1, 0);
  writer.span(1, 1, 0, scratch.length);
  const reader = new ColumnsReader(columns, writer.finish());
  t.same(
    [reader.row(columns, 0), reader.row(columns, 1)],
    [
      { a: 'shared', b: null },
      { a: 'bytes', b: 'shared\nbytes' },
    ],
  );
  t.equal(reader.textEnd(0, 1) - reader.textStart(0, 1), 5);
});
