import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import t from 'tap';
import { uuidV7InOrder } from '../../../../src/signal/ids.js';
import type { LogRecord } from '../../../../src/signal/log-record.js';
import { LogsEncoder } from '../../../../src/storage/duckdb/write/encode-logs.js';
import type { LogKey } from '../../../../src/storage/duckdb/index/log-keys.js';
import { removeOldLogs } from '../../../../src/storage/duckdb/index/log-retention.js';
import { blocksToMerge, isCrowded, type BlockSize } from '../../../../src/storage/duckdb/index/merge-logs.js';
import type { Read } from '../../../../src/storage/duckdb/segments/read.js';
import type { LogFilter } from '../../../../src/storage/contracts/logs.js';
import { EventEngine, type Listener } from '../event-engine.js';
import { aLog } from '../../../support/log-records.js';
import { holds, neverDiffers, same } from '../../../support/property.js';
import { NOON } from '../../../support/run-records.js';
import { bodyText } from '../log-search.js';
import { duplicatesIn, inColdFile, movedLogs } from '../stored-rows.js';

t.setTimeout(0);

const DAY = 86_400_000_000;
const WORDS = ['red', 'green', 'blue'] as const;
const MERGER = fileURLToPath(new URL('./kill-log-merger.js', import.meta.url));
const KILLED_AFTER = [
  'DELETE FROM cold.main.log_blocks',
  'INSERT INTO cold.main.log_terms',
  'COMMIT',
  'CHECKPOINT',
];
const BIG = { rows: 100_000, bytes: 1e9 };

/** A store and its expected records per user. */
class Kept {
  readonly engine: EventEngine;
  readonly users: readonly Listener[];
  readonly #encoder = new LogsEncoder();
  #records: { readonly user: number; readonly log: LogRecord }[] = [];
  #number = 0;

  constructor(engine: EventEngine, users: readonly Listener[]) {
    this.engine = engine;
    this.users = users;
  }

  static async open(test: Parameters<typeof EventEngine.open>[0]): Promise<Kept> {
    const engine = await EventEngine.open(test, { segmentSize: BIG });
    return new Kept(engine, [await engine.addUser(null), await engine.addUser(null)]);
  }

  get size(): number {
    return this.#records.length;
  }

  /** Writes one commit. @param days age of each record in days before noon */
  async write(user: number, days: readonly number[]): Promise<void> {
    const items = days.map((day) => {
      const number = this.#number++;
      const [color = '', second = ''] = [WORDS[number % 3], WORDS[(number >> 2) % 3]];
      return aLog({
        id: uuidV7InOrder(NOON / 1000, number),
        timestamp: NOON - day * DAY + (number % 5),
        body: `${color} ${second} ${number}`,
      });
    });
    const { writer, logs } = this.engine.parts;
    await logs.write(writer, { ...this.#encoder.encode({ items }, 0), tenant: this.#tenant(user) });
    this.#records.push(...items.map((log) => ({ user, log })));
  }

  /** Compacts everything into the cold file. */
  async settle(): Promise<void> {
    // Without a prepared next segment, none would be sealed.
    await this.engine.parts.segments.close();
    await this.engine.settle();
  }

  /** Writes and compacts one commit of records of the first user. */
  async move(records: number): Promise<void> {
    await this.write(0, Array<number>(records).fill(0));
    await this.settle();
  }

  /** Creates two blocks that the next compaction merges. */
  async prepareMerge(): Promise<void> {
    await this.move(40);
    await this.write(0, Array<number>(40).fill(0));
    // A read that does not expect the second block in the cold file prevents the merge now.
    const capture = this.engine.parts.segments.capture();
    await this.settle();
    capture.release();
  }

  /** Runs a search that merges blocks before its n-th statement on the cold file. */
  async mergedBefore<T>(n: number, work: (read: Read) => Promise<T>): Promise<T> {
    // A running read does not block the merge of blocks it sees as hot.
    await this.write(0, [0]);
    const { compactor } = this.engine.parts;
    const merged = compactor.mergedBlocks;
    let statements = 0;
    const isNow = async (sql: string): Promise<void> => {
      if (!sql.includes('cold.main') || ++statements !== n) return;
      await this.settle();
    };
    const done = await work(async (use) =>
      this.engine.read(async (connection, capture, beside) => {
        const rows = connection.rows.bind(connection);
        const wholeChunks = connection.wholeChunks.bind(connection);
        connection.rows = async (sql, values) => {
          await isNow(sql);
          return await rows(sql, values);
        };
        connection.wholeChunks = async function* (sql, values) {
          await isNow(sql);
          yield* wholeChunks(sql, values);
        };
        try {
          return await use(connection, capture, beside);
        } finally {
          Object.assign(connection, { rows, wholeChunks });
        }
      }),
    );
    same([statements >= n, compactor.mergedBlocks - merged], [true, 2]);
    return done;
  }

  /** Removes records older than this many days. @param between runs between two steps */
  async retain(days: number, between: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    const firstKept = NOON - days * DAY - DAY / 2;
    await removeOldLogs(async (work) => {
      const done = await this.engine.parts.compactor.between(work);
      await between();
      return done;
    }, firstKept);
    this.#records = this.#records.filter(({ log }) => log.timestamp >= firstKept);
  }

  expected(user: number, filter: LogFilter): string[] {
    const words = filter.query?.replaceAll('"', '') ?? '';
    return this.#records
      .filter(({ log }) => bodyText(log)?.includes(words) === true)
      .filter(({ log }) => log.timestamp >= (filter.start_time ?? 0))
      .filter((record) => record.user === user)
      .map(({ log }) => log)
      .sort((a, b) => b.timestamp - a.timestamp || (a.id < b.id ? 1 : -1))
      .map(({ id }) => id);
  }

  /** Compares searches with the expected records. */
  async look(offset = 0): Promise<void> {
    for (const user of this.users.keys()) {
      for (const filter of FILTERS) await this.search(user, filter, offset);
    }
  }

  async search(user: number, filter: LogFilter, offset = 0, read: Read = this.engine.read): Promise<void> {
    const expected = this.expected(user, filter);
    const page = { offset, limit: 1000 };
    const asking = this.engine.asking(this.#tenant(user), read);
    const { count, slice } = (await this.engine.parts.logs.search(asking, filter, page)).value;
    same(count, expected.length);
    const ids = [...idsIn(slice.json), ...(await this.ids(user, slice.rest))];
    same(ids, expected.slice(offset, offset + 1000));
  }

  /** The keys of a long page of which only the first records were read. */
  async begin(user: number): Promise<readonly LogKey[]> {
    const page = { offset: 0, limit: 5000 };
    const asking = this.engine.asking(this.#tenant(user));
    return (await this.engine.parts.logs.search(asking, {}, page)).value.slice.rest;
  }

  async ids(user: number, keys: readonly LogKey[], read: Read = this.engine.read): Promise<string[]> {
    const ids: string[] = [];
    for (let rest = keys; rest.length > 0;) {
      const asking = this.engine.asking(this.#tenant(user), read);
      const slice = (await this.engine.parts.logs.rest(asking, rest, true)).value;
      ids.push(...idsIn(slice.json));
      rest = slice.rest;
    }
    return ids;
  }

  async blocks(): Promise<number> {
    const [row] = await this.engine.read((connection) =>
      connection.rows('SELECT count(DISTINCT block) AS blocks FROM cold.main.log_blocks'),
    );
    return Number(row?.blocks);
  }

  #tenant(user: number): number {
    return this.users[user]?.tenant ?? 0;
  }
}

const FILTERS: readonly LogFilter[] = [
  {},
  { query: 'red' },
  { query: '"red green"' },
  { query: 'blue', start_time: NOON - DAY + 2 },
];

function idsIn(json: Uint8Array): string[] {
  const records = JSON.parse(`[${Buffer.from(json).toString()}]`) as { id: string }[];
  return records.map(({ id }) => id);
}

void t.test('keeps few blocks after many small compactions, and searches still match', async (t) => {
  const kept = await Kept.open(t);
  // A page read to its end much later, when its records have other numbers.
  await kept.write(0, Array<number>(260).fill(1));
  await kept.settle();
  const keys = await kept.begin(0);
  const expected = await kept.ids(0, keys);
  t.equal(expected.length, 60);
  const moves = 24;
  for (let move = 0; move < moves; move++) {
    await kept.write(move % 2, Array<number>(1 + (move % 4)).fill(move % 3));
    // Searches while blocks are merged.
    await Promise.all([kept.settle(), kept.look(move)]);
    if (move === 12) await kept.engine.reopen();
  }
  await kept.write(0, Array<number>(300).fill(0));
  await kept.settle();
  await kept.look();
  const blocks = await kept.blocks();
  t.ok(blocks <= Math.log2(kept.size), `${blocks} blocks after ${moves + 2} moves`);
  t.strictSame(await kept.ids(0, keys), expected);
  await kept.engine.close();
  const { records, inBlocks, counted, entries } = await movedLogs(kept.engine.path);
  t.strictSame([records, inBlocks], [kept.size, kept.size]);
  // Two or three words, the service and the severity of each record.
  t.equal(counted, entries);
  t.ok(entries >= records * 4 && entries <= records * 5, `${entries} entries of ${records} records`);
});

void t.test('a search sees one state of the cold file while blocks are merged', async (t) => {
  const kept = await Kept.open(t);
  // A filter that needs every kind of statement.
  const filter = { query: '"red green"', start_time: NOON + 2 };
  for (let n = 1; n <= 7; n++) {
    await kept.prepareMerge();
    await kept.mergedBefore(n, (read) => kept.search(0, filter, 1, read));
    t.pass(`before statement ${n}`);
    await kept.retain(-1);
  }
});

void t.test('later records of a page are found after their blocks merged', async (t) => {
  const kept = await Kept.open(t);
  for (const n of [1, 2, 3]) {
    await kept.move(400);
    await kept.prepareMerge();
    await kept.write(0, Array<number>(20).fill(0));
    const keys = await kept.begin(0);
    const expected = kept.expected(0, {}).slice(-keys.length);
    t.ok(new Set(keys.map((key) => key.log_no === 0)).size === 2, 'some records are hot');
    const ids = await kept.mergedBefore(n, (read) => kept.ids(0, keys, read));
    t.strictSame(ids, expected, `merged before statement ${n}`);
    await kept.retain(-1);
  }
});

void t.test('retention leaves no orphans when blocks are merged between its steps', async (t) => {
  const kept = await Kept.open(t);
  for (const records of [90, 30, 10]) {
    await kept.write(0, [...Array<number>(records - 1).fill(3), 0]);
    await kept.settle();
  }
  let steps = 0;
  await kept.retain(1, async () => {
    if (++steps === 1) await kept.move(10);
  });
  t.equal(kept.size, 13);
  await kept.look();
  t.equal(await kept.blocks(), 1);
  await kept.engine.close();
  const { records, inBlocks } = await movedLogs(kept.engine.path);
  t.strictSame([records, inBlocks], [13, 13]);
});

void t.test('merges blocks that lost records to damage', async (t) => {
  const kept = await Kept.open(t);
  await kept.prepareMerge();
  await kept.engine.close();
  await inColdFile(kept.engine.path, "DELETE FROM logs WHERE body LIKE '% 5' OR body LIKE '% 45'");
  await kept.engine.start();
  await kept.move(1);
  t.equal(kept.engine.parts.compactor.mergedBlocks, 2);
  t.notMatch(kept.engine.logger.lines, /could not/);
  await kept.engine.close();
  const { records, inBlocks } = await movedLogs(kept.engine.path);
  t.strictSame([records, inBlocks], [79, 79]);
});

void t.test('a process killed during a merge neither loses nor duplicates records', async (t) => {
  const kept = await Kept.open(t);
  const { path } = kept.engine;
  for (const statement of KILLED_AFTER) {
    await kept.prepareMerge();
    // The next start compacts it and then merges.
    await kept.write(0, [0]);
    await kept.engine.close();
    const child = spawn(process.execPath, [MERGER, path, statement], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    t.teardown(() => child.kill('SIGKILL'));
    const [, signal] = (await once(child, 'close')) as [number | null, string | null];
    t.equal(signal, 'SIGKILL', `killed after ${statement}`);
    await kept.engine.start();
    await kept.look();
    await kept.move(40);
    await kept.look();
    t.equal(await kept.blocks(), 1);
    await kept.engine.close();
    t.same(await duplicatesIn(path), []);
    const { records, inBlocks } = await movedLogs(path);
    t.strictSame([records, inBlocks], [kept.size, kept.size]);
    await kept.engine.start();
    // Removes all records.
    await kept.retain(-1);
  }
});

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      user: fc.integer({ min: 0, max: 1 }),
      days: fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 12 }),
    }),
  },
  { weight: 1, arbitrary: fc.constantFrom('restart' as const) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 4 }) },
);

void t.test('merges, retention and restarts change no results in any order', async (t) => {
  const kept = await Kept.open(t);
  await neverDiffers(
    t,
    { runs: 20, ms: 2500 },
    [fc.array(step, { minLength: 4, maxLength: 10 })],
    async (steps) => {
      for (const step of steps) {
        if (step === 'restart') await kept.engine.reopen();
        else if (typeof step === 'number') await kept.retain(step);
        else {
          await kept.write(step.user, step.days);
          await Promise.all([kept.settle(), kept.look()]);
        }
        await kept.look();
      }
    },
  );
  t.notMatch(kept.engine.logger.lines, /could not/);
});

void t.test('rewrites records rarely and leaves few blocks of any size', (t) => {
  const sizes = fc.array(fc.integer({ min: 1, max: 40_000 }), { minLength: 1, maxLength: 600 });
  const small = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 600 });
  holds(
    t,
    fc.property(fc.oneof(sizes, small), (moved) => {
      let blocks: (BlockSize & { readonly writes: number })[] = [];
      let number = 0;
      for (const records of moved) {
        blocks = [{ block: ++number, seq: number, records, bytes: records, writes: 1 }, ...blocks];
        const merged = new Set(
          blocksToMerge(blocks.filter((block) => block.records < 32_768)).map(({ block }) => block),
        );
        const taken = blocks.filter(({ block }) => merged.has(block));
        if (taken.length === 0) continue;
        const sum = taken.reduce((all, block) => all + block.records, 0);
        const writes = 1 + Math.max(...taken.map((block) => block.writes));
        const one = { block: ++number, seq: number, records: sum, bytes: sum, writes };
        if (sum > 65_536) return false;
        blocks = [one, ...blocks.filter((block) => !taken.includes(block))];
      }
      const full = blocks.filter(({ records }) => records >= 32_768).length;
      return blocks.length - full <= 17 && blocks.every(({ writes }) => writes <= 2 * 16);
    }),
    { numRuns: 300 },
  );
  t.end();
});

void t.test('blocks near large records are left as they are', async (t) => {
  const MIB = 1024 * 1024;
  const of = (...sizes: readonly (readonly [records: number, bytes: number])[]): boolean[] => {
    const blocks = sizes.map(([records, bytes], i) => ({ block: sizes.length - i, seq: 1, records, bytes }));
    return blocks.map((_, i) => isCrowded(blocks, i));
  };
  t.same(of([1, 8 * MIB], [1, 8 * MIB], [5, 100]), [false, false, false], 'few of them');
  t.same(of([100, 100], ...Array.from({ length: 9 }, () => [1, 8 * MIB] as const)), Array(10).fill(true));
  const far = of(
    [100, 100],
    [1000, 100],
    [1100, 100],
    ...Array.from({ length: 9 }, () => [1, 8 * MIB] as const),
    [2048, 9],
    [7, 100],
  );
  t.same([far[0], far[1], far.at(-1)], [false, true, false], 'not read together');
  t.same(
    of([10, 100], [65_536, 16 * MIB], [10, 100]),
    [false, false, false],
    'a full block of short records',
  );
});
