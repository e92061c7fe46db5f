import fc from 'fast-check';
import t from 'tap';
import { uuidV7InOrder } from '../../src/signal/ids.js';
import type { LogRecord } from '../../src/signal/log-record.js';
import { LogsEncoder } from '../../src/storage/duckdb/logs/encode-logs.js';
import type { LogKey } from '../../src/storage/duckdb/logs/log-keys.js';
import { removeOldLogs } from '../../src/storage/duckdb/logs/log-retention.js';
import { blocksToMerge, type BlockSize } from '../../src/storage/duckdb/logs/merge-logs.js';
import type { LogFilter } from '../../src/storage/telemetry-store.js';
import { EventEngine, type Listener } from '../events/event-engine.js';
import { aLog } from '../support/log-records.js';
import { holds, neverDiffers, same } from '../support/property.js';
import { NOON } from '../support/run-records.js';
import { bodyText } from './log-search.js';
import { movedLogs } from './stored-rows.js';

t.setTimeout(0);

const DAY = 86_400_000_000;
const WORDS = ['red', 'green', 'blue'] as const;
const BIG = { rows: 100_000, bytes: 1e9 };

/** A store and the records that it should have, user by user. */
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

  /** One commit. @param days how many days before noon each record is */
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
    await logs.write(writer, this.#tenant(user), this.#encoder.encode({ tenant: '', items }), null);
    this.#records.push(...items.map((log) => ({ user, log })));
  }

  /** Removes what is older than some days. */
  async retain(days: number): Promise<void> {
    const firstKept = NOON - days * DAY - DAY / 2;
    await removeOldLogs((work) => this.engine.parts.mover.between(work), firstKept);
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

  /** Compares searches with what they should give. */
  async look(offset = 0): Promise<void> {
    for (const user of this.users.keys()) {
      for (const filter of FILTERS) {
        const expected = this.expected(user, filter);
        const { parts, read } = this.engine;
        const page = { offset, limit: 1000 };
        const { count, slice } = await parts.logs.search(read, this.#tenant(user), filter, page);
        same(count, expected.length);
        const ids = [...idsIn(slice.json), ...(await this.ids(user, slice.rest))];
        same(ids, expected.slice(offset, offset + 1000));
      }
    }
  }

  /** The keys of a long page, of which only the first records were read. */
  async begin(user: number): Promise<readonly LogKey[]> {
    const { parts, read } = this.engine;
    const page = { offset: 0, limit: 5000 };
    return (await parts.logs.search(read, this.#tenant(user), {}, page)).slice.rest;
  }

  async ids(user: number, keys: readonly LogKey[]): Promise<string[]> {
    const ids: string[] = [];
    for (let rest = keys; rest.length > 0;) {
      const { parts, read } = this.engine;
      const slice = await parts.logs.read(read, this.#tenant(user), rest, true);
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

void t.test('many small moves leave few blocks, and every search finds what it found', async (t) => {
  const kept = await Kept.open(t);
  // A page that is read to its end much later, when its records have other numbers.
  await kept.write(0, Array<number>(260).fill(1));
  await kept.engine.settle();
  const keys = await kept.begin(0);
  const expected = await kept.ids(0, keys);
  t.equal(expected.length, 60);
  const moves = 24;
  for (let move = 0; move < moves; move++) {
    await kept.write(move % 2, Array<number>(1 + (move % 4)).fill(move % 3));
    // Searches while blocks are merged.
    await Promise.all([kept.engine.settle(), kept.look(move)]);
    if (move === 12) await kept.engine.reopen();
  }
  await kept.write(0, Array<number>(300).fill(0));
  await kept.engine.settle();
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

void t.test('merging, retention and restarts change no answer, whatever their order', async (t) => {
  const kept = await Kept.open(t);
  await neverDiffers(
    t,
    { runs: 20, ms: 5_000 },
    [fc.array(step, { minLength: 4, maxLength: 10 })],
    async (steps) => {
      for (const step of steps) {
        if (step === 'restart') await kept.engine.reopen();
        else if (typeof step === 'number') await kept.retain(step);
        else {
          await kept.write(step.user, step.days);
          await Promise.all([kept.engine.settle(), kept.look()]);
        }
        await kept.look();
      }
    },
  );
  t.notMatch(kept.engine.logger.lines, /could not/);
});

void t.test('a record is written anew few times, and few blocks are left, whatever their sizes', (t) => {
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
