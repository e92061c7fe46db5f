import { join } from 'node:path';
import t, { type Test } from 'tap';
import { objectRows } from '../../../../src/storage/duckdb/write/rows.js';
import { TableAppender } from '../../../../src/storage/duckdb/files/appender.js';
import type { Connection } from '../../../../src/storage/duckdb/files/connection.js';
import { Database, MAIN } from '../../../../src/storage/duckdb/files/database.js';
import { LOG_MESSAGE } from '../../../../src/storage/duckdb/write/encode-logs.js';
import { POINT_MESSAGE } from '../../../../src/storage/duckdb/write/encode-points.js';
import { SPAN_MESSAGE, TRACE_MESSAGE } from '../../../../src/storage/incoming/encode-traces.js';
import { createTable, type Table, type TableRow } from '../../../../src/storage/schema/table.js';
import { SEGMENT_TABLES } from '../../../../src/storage/schema/tables.js';
import { ColumnsWriter } from '../../../../src/worker/columns-writer.js';
import type { Column, ColumnKind } from '../../../../src/worker/columns.js';
import { TextScratch } from '../../../../src/worker/text-scratch.js';
import { testFolder } from '../../../support/test-folder.js';

/** All messages written column by column instead of as objects. */
const MESSAGES: Readonly<Record<string, readonly Column[]>> = {
  spans: SPAN_MESSAGE,
  traces: TRACE_MESSAGE,
  points: POINT_MESSAGE,
  logs: LOG_MESSAGE,
  ...Object.fromEntries(SEGMENT_TABLES.map(({ name, wire }) => [`table ${name}`, wire])),
};

const VALUES: Readonly<Record<ColumnKind, string | number | boolean>> = {
  uuid: '00000000-0000-4000-8000-000000000001',
  int64: 1,
  int32: 1,
  uint32: 1,
  float64: 1,
  uint8: 1,
  bool: true,
  text: 'a',
};

type WrittenRow = Record<string, string | number | boolean | null>;

function fullRow(columns: readonly Column[]): WrittenRow {
  return Object.fromEntries(columns.map(({ name, kind }) => [name, VALUES[kind]]));
}

async function aDatabase(t: Test): Promise<Connection> {
  let database: Database | null = null;
  t.teardown(() => database?.close());
  database = await Database.open({
    path: join(testFolder(t), 'x.duckdb'),
    memoryLimit: '256MiB',
    threads: 1,
  });
  return await database.connect();
}

void t.test('throws for a row without a value for a table column', async (t) => {
  for (const table of SEGMENT_TABLES) {
    const store = fullRow(table.store);
    const written = (wire: WrittenRow) => objectRows(table, [{ ...store, ...wire } as TableRow<Table>]);
    t.equal(written(fullRow(table.wire)).length, 1, table.name);
    for (const { name, nullable } of table.wire) {
      const lacking = fullRow(table.wire.filter((column) => column.name !== name));
      t.throws(
        () => written(lacking),
        { message: new RegExp(`\\b${name}\\b`) },
        `${table.name} without ${name}`,
      );
      const emptied = { ...fullRow(table.wire), [name]: null };
      if (nullable) t.doesNotThrow(() => written(emptied), `${table.name}.${name} may be null`);
      else
        t.throws(
          () => written(emptied),
          { message: new RegExp(`\\b${name} is never null`) },
          `${table.name}.${name} is never null`,
        );
    }
  }
});

void t.test('throws and writes nothing if the store omits an assigned column', async (t) => {
  const connection = await aDatabase(t);
  for (const table of SEGMENT_TABLES) {
    await connection.run(createTable(MAIN, table));
    const [rows] = objectRows(table, [fullRow([...table.store, ...table.wire]) as TableRow<Table>]);
    if (rows === undefined) throw new Error('there is a row');
    const { source, assigned } = rows;
    for (const { name } of table.store) {
      await connection.run('BEGIN');
      const appender = new TableAppender(connection, MAIN, table);
      appender.append(source, 0, 1, assigned);
      const others = Object.fromEntries(Object.entries(assigned).filter(([column]) => column !== name));
      for (const lacking of [others, { ...others, [name]: NaN }])
        t.throws(
          () => {
            appender.append(source, 0, 1, lacking);
          },
          { message: `The column ${table.name}.${name} was not written.` },
          'it does not keep the value of the previous row',
        );
      appender.abandon();
      await connection.run('ROLLBACK');
    }
    const [found] = await connection.rows(`SELECT count(*) AS rows FROM ${MAIN}.main.${table.name}`);
    t.equal(found?.rows, 0, table.name);
  }
});

void t.test('cannot finish a message with a missing column in one row', async (t) => {
  for (const [name, columns] of Object.entries(MESSAGES)) {
    for (const left of columns.keys()) {
      const writer = new ColumnsWriter(columns, 2, new TextScratch());
      for (const row of [0, 1])
        columns.forEach(({ kind }, column) => {
          if (row === 0 || column !== left) writer.value(column, kind, row, VALUES[kind]);
        });
      t.throws(
        () => writer.finish(),
        { message: `The column ${columns[left]?.name ?? ''} has values for 1 of 2 rows.` },
        `${name} without ${columns[left]?.name ?? ''}`,
      );
      t.throws(
        () => writer.finish({ rows: 1 }),
        /has values for 2 of 1 rows/,
        'nor with more rows than declared',
      );
    }
  }
});
