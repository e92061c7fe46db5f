import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { join } from 'node:path';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { TableAppender } from '../../../../src/storage/duckdb/files/appender.js';
import type { Connection } from '../../../../src/storage/duckdb/files/connection.js';
import { Database, MAIN } from '../../../../src/storage/duckdb/files/database.js';
import {
  createTable,
  defineTable,
  selectList,
  type AssignedColumns,
} from '../../../../src/storage/schema/table.js';
import { ColumnsReader } from '../../../../src/worker/columns-reader.js';
import { encodeRows } from '../../../../src/worker/columns-writer.js';
import { testFolder } from '../../../support/test-folder.js';

const TABLE = defineTable({
  name: 'everything',
  store: [
    { name: 'seq', kind: 'int64', sql: 'BIGINT' },
    { name: 'small', kind: 'int32', sql: 'INTEGER' },
    { name: 'flag', kind: 'bool', sql: 'BOOLEAN' },
  ],
  wire: [
    { name: 'id', kind: 'uuid', sql: 'UUID' },
    { name: 'parent', kind: 'uuid', sql: 'UUID', nullable: true },
    { name: 'type', kind: 'uint8', sql: 'UTINYINT' },
    { name: 'started', kind: 'int64', sql: 'TIMESTAMP' },
    { name: 'ended', kind: 'int64', sql: 'TIMESTAMP', nullable: true },
    { name: 'ms', kind: 'float64', sql: 'DOUBLE', nullable: true },
    { name: 'tokens', kind: 'int64', sql: 'BIGINT', nullable: true },
    { name: 'cost', kind: 'int64', sql: 'BIGINT', nullable: true },
    { name: 'ok', kind: 'bool', sql: 'BOOLEAN', nullable: true },
    { name: 'count', kind: 'uint32', sql: 'UINTEGER' },
    { name: 'name', kind: 'text', sql: 'VARCHAR' },
    { name: 'note', kind: 'text', sql: 'VARCHAR', nullable: true },
  ],
});

/** Timestamps are exact from 1684 to 2255. */
const time = fc.oneof(
  fc.maxSafeInteger(),
  fc.constantFrom(0, -1, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER),
);
const text = fc.oneof(
  fc.constantFrom('', '\0', 'a\0b', 'x'.repeat(12), 'x'.repeat(13), '🪶'.repeat(3000), 'y'.repeat(1_000_000)),
  fc.string({ unit: 'grapheme' }),
);
const row = fc.record({
  id: fc.uuid(),
  parent: fc.option(fc.uuid()),
  type: fc.integer({ min: 0, max: 255 }),
  started: time,
  ended: fc.option(time),
  ms: fc.option(fc.double({ noNaN: true, noDefaultInfinity: true })),
  tokens: fc.option(fc.maxSafeInteger()),
  cost: fc.option(fc.integer({ min: 0, max: 999_999_999_999_999 })),
  ok: fc.option(fc.boolean()),
  count: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  name: text,
  note: fc.option(text),
});

async function aDatabase(t: Test): Promise<Connection> {
  let database: Database | null = null;
  // Registered before the folder is created, because teardowns run in reverse order.
  t.teardown(() => database?.close());
  const path = join(testFolder(t), 'x.duckdb');
  database = await Database.open({ path, memoryLimit: '256MiB', threads: 1 });
  const connection = await database.connect();
  await connection.run(`USE ${MAIN}`);
  await connection.run(createTable(MAIN, TABLE));
  return connection;
}

const SELECT = `SELECT ${selectList([...TABLE.store, ...TABLE.wire])} FROM everything ORDER BY rowid`;

void t.test('values round-trip', async (t) => {
  const connection = await aDatabase(t);
  await fc.assert(
    fc.asyncProperty(
      fc.array(row, { minLength: 1, maxLength: 30 }),
      fc.maxSafeInteger(),
      async (rows, seq) => {
        await connection.run('DELETE FROM everything');
        const source = new ColumnsReader(TABLE.wire, encodeRows(TABLE.wire, rows));
        const appender = new TableAppender(connection, MAIN, TABLE);
        const assigned: AssignedColumns<typeof TABLE> = { seq, small: (i) => -i, flag: (i) => i % 2 === 1 };
        appender.append(source, 0, rows.length, assigned);
        appender.close();
        const found = await connection.rows(SELECT);
        t.same(
          found,
          rows.map((values, i) => ({ seq, small: -i, flag: i % 2 === 1, ...values })),
        );
      },
    ),
    { numRuns: 40 },
  );
});

void t.test('keeps order and nulls across chunks and sources', async (t) => {
  const connection = await aDatabase(t);
  const make = (count: number, offset: number) =>
    Array.from({ length: count }, (_, i) => {
      const n = offset + i;
      return {
        id: `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`,
        parent: n % 3 === 0 ? null : 'ffffffff-ffff-ffff-ffff-ffffffffffff',
        type: n % 256,
        started: n,
        ended: n % 7 === 0 ? null : -n,
        ms: n % 5 === 0 ? null : n / 3,
        tokens: n % 2 === 0 ? null : n,
        cost: n % 11 === 0 ? null : n * 1_000_003,
        ok: n % 13 === 0 ? null : n % 2 === 0,
        count: n,
        name: `row ${n}`,
        note: n % 17 === 0 ? null : 'ä'.repeat(n % 40),
      };
    });
  const first = make(5000, 0);
  const second = make(3000, 5000);
  const appender = new TableAppender(connection, MAIN, TABLE);
  const own = (offset: number): AssignedColumns<typeof TABLE> => ({
    seq: (i) => offset + i,
    small: 1,
    flag: false,
  });
  const [a, b] = [first, second].map((rows) => new ColumnsReader(TABLE.wire, encodeRows(TABLE.wire, rows)));
  if (a === undefined || b === undefined) throw new Error('there are two');
  appender.append(a, 0, 2047, own(0));
  appender.append(a, 2047, 2047, own(0));
  appender.append(a, 2047, 5000, own(0));
  appender.append(b, 1000, 3000, own(5000));
  appender.close();
  const found = await connection.rows(SELECT);
  t.equal(found.length, 7000);
  const expected = [...first, ...second.slice(1000)].map((values) => ({
    seq: values.started,
    small: 1,
    flag: false,
    ...values,
  }));
  t.ok(found.every((values, i) => JSON.stringify(values) === JSON.stringify(expected[i])));
});

void t.test('an abandoned appender writes nothing, even when garbage-collected', async (t) => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const connection = await aDatabase(t);
  const [values] = fc.sample(row, 1);
  if (values === undefined) throw new Error('there is a row');
  // Thousands of copies of the longest text would take five gigabytes.
  const short = { ...values, name: 'x'.repeat(13), note: 'a note' };
  const source = new ColumnsReader(TABLE.wire, encodeRows(TABLE.wire, [short]));
  const giveUp = (): void => {
    const appender = new TableAppender(connection, MAIN, TABLE);
    for (let i = 0; i < 5000; i++) appender.append(source, 0, 1, { seq: 0, small: 0, flag: false });
    appender.abandon();
  };
  await connection.run('BEGIN');
  giveUp();
  await connection.run('ROLLBACK');
  for (let i = 0; i < 5; i++) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  const [count] = await connection.rows('SELECT count(*) AS rows FROM everything');
  t.equal(count?.rows, 0);
});
