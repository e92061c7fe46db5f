import t from 'tap';
import { Connection } from '../../../src/storage/clickhouse/client/connection.js';
import { rowBinary, type TypedColumn } from '../../../src/storage/clickhouse/client/row-binary.js';
import { createTable, type ClickHouseTable } from '../../../src/storage/clickhouse/tables/table.js';
import { ClickHouseServer } from '../../support/clickhouse-server.js';
import { ODD_TEXTS } from '../../support/odd-texts.js';
import { clickHouseOptions } from './clickhouse-place.js';

const COLUMNS: readonly TypedColumn[] = [
  { name: 'number', type: 'UInt32' },
  { name: 'small', type: 'UInt8' },
  { name: 'signed', type: 'Int32 CODEC(Delta, ZSTD(1))' },
  { name: 'large', type: 'UInt64' },
  { name: 'long', type: 'Int64 DEFAULT 7' },
  { name: 'sum', type: 'Int128' },
  { name: 'value', type: 'Nullable(Float64)' },
  { name: 'flag', type: 'Bool' },
  { name: 'text', type: 'Nullable(String)' },
  { name: 'kind', type: 'LowCardinality(Nullable(String))' },
  { name: 'id', type: 'UUID' },
  { name: 'hours', type: 'Array(Int32)' },
  { name: 'calls', type: 'Array(Tuple(hour Int32, model Nullable(String), nanos Int128)) CODEC(ZSTD(1))' },
];
const ID = 'F0000000-0000-4000-8000-00000000000a';
const ROW = {
  number: 0,
  small: 0,
  signed: 0,
  large: 0,
  long: 0,
  sum: 0,
  value: 0,
  flag: false,
  text: '',
  kind: '',
  id: ID,
  hours: [],
  calls: [],
};
type Cells = Readonly<Record<string, unknown>>;

const server = await ClickHouseServer.start(t);
const skip = typeof server === 'string' ? server : false;

void t.test('RowBinary rows', { skip }, async (t) => {
  if (typeof server === 'string') return;
  const options = clickHouseOptions(server);
  await server.query(`CREATE DATABASE ${options.database}`);
  const connection = await Connection.open(options, {
    database: options.database,
    now: () => performance.now(),
  });
  t.teardown(() => connection.close());
  const table: ClickHouseTable = { name: 'cells', columns: COLUMNS, partition: 'tuple()', order: 'number' };
  await connection.command(createTable(options, table));

  /** Inserts numbered rows and reads them back. */
  async function backOf(rows: readonly Cells[]): Promise<readonly Cells[]> {
    await connection.command('TRUNCATE TABLE cells');
    const numbered = rows.map((row, number) => ({ fields: { ...ROW, ...row, number } }));
    await connection.insert('cells', COLUMNS, numbered, null);
    return await connection.rows(
      'SELECT number, small, signed, toString(large) AS large, toString(long) AS long, toString(sum) AS sum, value, flag, text, kind, id, hours, calls FROM cells ORDER BY number',
    );
  }

  await t.test('round-trip at the limits of each type', async (t) => {
    const rows: readonly (readonly [sent: Cells, back: Cells])[] = [
      [{ small: 255 }, { small: 255 }],
      [{ signed: -(2 ** 31) }, { signed: -(2 ** 31) }],
      [{ signed: 2 ** 31 - 1 }, { signed: 2 ** 31 - 1 }],
      [{ large: Number.MAX_SAFE_INTEGER }, { large: '9007199254740991' }],
      [{ large: 2n ** 64n - 1n }, { large: '18446744073709551615' }],
      [{ large: '18446744073709551615' }, { large: '18446744073709551615' }],
      [{ long: -1 }, { long: '-1' }],
      [{ long: Number.MIN_SAFE_INTEGER }, { long: '-9007199254740991' }],
      [{ long: -(2n ** 63n) }, { long: '-9223372036854775808' }],
      [{ sum: -5 }, { sum: '-5' }],
      [{ sum: 2 ** 40 }, { sum: '1099511627776' }],
      [{ sum: 2n ** 127n - 1n }, { sum: '170141183460469231731687303715884105727' }],
      [
        { sum: '-170141183460469231731687303715884105728' },
        { sum: '-170141183460469231731687303715884105728' },
      ],
      [{ value: 5e-324 }, { value: 5e-324 }],
      [{ value: null }, { value: null }],
      [{ value: 'nan' }, { value: 'nan' }],
      [{ value: -Infinity }, { value: '-inf' }],
      [{ flag: true }, { flag: true }],
      [{ flag: 1 }, { flag: true }],
      [
        { text: null, kind: null },
        { text: null, kind: null },
      ],
      [{ text: Buffer.from('bytes ä') }, { text: 'bytes ä' }],
      [{ id: ID.toLowerCase() }, { id: ID.toLowerCase() }],
      [{ hours: [1, -2, 3] }, { hours: [1, -2, 3] }],
      [
        {
          calls: [
            { nanos: '12', model: 'a', hour: 1 },
            { hour: -1, model: null, nanos: 2n ** 50n },
          ],
        },
        {
          calls: [
            { hour: 1, model: 'a', nanos: '12' },
            { hour: -1, model: null, nanos: '1125899906842624' },
          ],
        },
      ],
    ];
    const back = await backOf(rows.map(([sent]) => sent));
    rows.forEach(([sent, wanted], at) => {
      const { calls, ...others } = back[at] ?? {};
      t.match(
        others,
        Object.fromEntries(Object.entries(wanted).filter(([name]) => name !== 'calls')),
        String(Object.keys(sent)),
      );
      if (wanted['calls'] !== undefined) {
        const texts = (calls as Cells[]).map(({ nanos, ...rest }) => ({
          ...rest,
          nanos: BigInt(String(nanos)).toString(),
        }));
        t.strictSame(texts, wanted['calls']);
      }
      t.equal(others['id'], ID.toLowerCase());
    });
  });

  await t.test('round-trip texts of all kinds and lengths', async (t) => {
    const lengths = [
      0, 1, 23, 24, 25, 42, 43, 127, 128, 129, 16_383, 16_384, 70_000, 262_143, 262_144, 700_000,
    ];
    const texts = [
      ...ODD_TEXTS.map((text) => text.toWellFormed()),
      ...lengths.flatMap((length) => ['x'.repeat(length), 'ä'.repeat(length), '\u{1F426}'.repeat(length)]),
      '\n\n',
      'end\n',
    ];
    const back = await backOf(texts.map((text) => ({ text, kind: text.slice(0, 8) })));
    t.equal(back.length, texts.length);
    back.forEach(({ text }, at) => t.ok(text === texts[at], `text ${String(at)}`));
  });

  await t.test('reject invalid values before sending, naming the column but not the value', async (t) => {
    const secret = 'hidden-value';
    const cases: readonly Cells[] = [
      { small: 256 },
      { small: -1 },
      { small: 1.5 },
      { small: '1' },
      { signed: 2 ** 31 },
      { large: -1 },
      { large: 2n ** 64n },
      { long: 0.5 },
      { long: 2 ** 53 },
      { long: NaN },
      { sum: secret },
      { value: secret },
      { flag: 'true' },
      { text: 7 },
      { text: undefined },
      { id: secret },
      { id: null },
      { id: `${ID.slice(0, 35)}g` },
      { hours: secret },
      { hours: [null] },
      { calls: [secret] },
      { calls: [{ hour: 1, nanos: 1 }] },
    ];
    for (const wrong of cases) {
      const [name] = Object.keys(wrong);
      const failure = (await connection
        .insert('cells', COLUMNS, [{ fields: { ...ROW, ...wrong } }], null)
        .then(
          () => null,
          (error: unknown) => error,
        )) as Error | null;
      t.match(failure, { name: 'ConsumeError', code: 'internal_error' }, String(name));
      t.match(failure?.message, new RegExp(`Column ${String(name)}: `));
      t.notMatch(failure?.message, secret);
    }
  });
});

void t.test('throw for unsupported column types', (t) => {
  for (const type of ['Decimal(9, 2)', 'Array(Int32', 'Tuple(Int32)', ''])
    t.throws(() => rowBinary([{ name: 'a', type }], [{ fields: { a: 1 } }]), RangeError, type);
  t.end();
});
