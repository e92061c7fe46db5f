import fc from 'fast-check';
import t from 'tap';
import { itemAt } from '../../../src/signal/checked.js';
import { SPAN_WIRE } from '../../../src/storage/schema/tables.js';
import { BinaryColumns } from '../../../src/storage/clickhouse/client/binary-columns.js';
import {
  rowBinary,
  type BinaryRow,
  type TypedColumn,
} from '../../../src/storage/clickhouse/client/row-binary.js';
import { SPAN_ROW_COLUMNS } from '../../../src/storage/clickhouse/tables/run-tables.js';
import type { Column, ColumnKind } from '../../../src/worker/columns.js';
import { ColumnsReader } from '../../../src/worker/columns-reader.js';
import { encodeRows } from '../../../src/worker/columns-writer.js';
import { ODD_TEXTS } from '../../support/odd-texts.js';
import { holds } from '../../support/property.js';

const COLUMNS: readonly TypedColumn[] = [
  { name: 'before', type: 'UInt32' },
  ...SPAN_ROW_COLUMNS,
  { name: 'behind', type: 'Nullable(String)' },
];

const INT64 = fc.oneof(
  fc.maxSafeInteger(),
  fc.constantFrom(0, -1, 2 ** 32, -(2 ** 32), 2 ** 53 - 1, 1 - 2 ** 53),
);
const TEXT = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.constantFrom(...ODD_TEXTS));
const VALUES: Partial<Record<ColumnKind, fc.Arbitrary<string | number>>> = {
  uuid: fc.uuid(),
  int64: INT64,
  float64: fc.double({ noNaN: true }),
  uint8: fc.nat(255),
  text: TEXT,
};

const WIRE: readonly Column[] = SPAN_WIRE;

function valueOf({ kind, nullable }: Column): fc.Arbitrary<string | number | null> {
  const value = VALUES[kind];
  if (value === undefined) throw new RangeError(`no values of the kind ${kind}`);
  return nullable === true ? fc.option(value, { nil: null }) : value;
}

const ROW = fc.record(Object.fromEntries(WIRE.map((column) => [column.name, valueOf(column)])));

void t.test('encodes column-stored rows like rows of values', async (t) => {
  holds(
    t,
    fc.property(fc.array(ROW, { minLength: 1, maxLength: 8 }), (rows) => {
      const reader = new ColumnsReader(WIRE, encodeRows(WIRE, rows));
      const columns = new BinaryColumns(WIRE, reader);
      const split: BinaryRow[] = rows.map((_, at) => ({
        fields: { before: at, behind: `${at}` },
        encoded: { columns, at },
      }));
      const whole = rows.map((rest, at): BinaryRow => ({ fields: { before: at, behind: `${at}` }, rest }));
      const mixed = whole.map((row, at) => (at % 2 === 0 ? row : itemAt(split, at)));
      const expected = bytesOf(whole);
      return [split, mixed].every((written) => bytesOf(written).equals(expected));
    }),
  );
});

void t.test('names the column of an invalid assigned value', async (t) => {
  const row = Object.fromEntries(
    WIRE.map((column) => [column.name, fc.sample(valueOf(column), { seed: 1, numRuns: 1 })[0] ?? null]),
  );
  const columns = new BinaryColumns(WIRE, new ColumnsReader(WIRE, encodeRows(WIRE, [row])));
  for (const [before, behind, name] of [
    [-1, 'a', 'before'],
    [1, 7, 'behind'],
  ])
    t.throws(
      () => bytesOf([{ fields: { before, behind }, encoded: { columns, at: 0 } }]),
      new RegExp(`Column ${String(name)}: takes`),
    );
});

function bytesOf(rows: readonly BinaryRow[]): Buffer {
  return Buffer.concat(rowBinary(COLUMNS, rows));
}
