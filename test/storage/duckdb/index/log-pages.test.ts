import fc from 'fast-check';
import t from 'tap';
import { uuidV7InOrder } from '../../../../src/signal/ids.js';
import { LogsEncoder } from '../../../../src/storage/duckdb/write/encode-logs.js';
import { newestFirst, type LogKey } from '../../../../src/storage/duckdb/index/log-keys.js';
import { pageOfKeys, type KeyList, type Wanted } from '../../../../src/storage/duckdb/index/page-of-keys.js';
import { Positions } from '../../../../src/storage/duckdb/index/positions.js';
import { searchLogs } from '../../../../src/storage/duckdb/read/logs.js';
import { EventEngine } from '../event-engine.js';
import { aLog } from '../../../support/log-records.js';
import { holds, neverDiffers, same } from '../../../support/property.js';
import { NOON } from '../../../support/run-records.js';

/** A list that generates its keys when read. */
interface MadeUp extends KeyList {
  at(place: number): LogKey;
}

interface Asked {
  readonly page: readonly LogKey[];
  /** Number of keys read for the page. */
  readonly keys: number;
}

async function pageOf(
  lists: readonly MadeUp[],
  page: { readonly offset: number; readonly limit: number },
): Promise<Asked> {
  let keys = 0;
  const read = (wanted: readonly Wanted<MadeUp>[]) =>
    Promise.resolve(
      wanted.map(({ list, places }) => {
        keys += places.length;
        return places.map((place) => list.at(place));
      }),
    );
  return { page: await pageOfKeys(lists, page, read), keys };
}

function keyOf(timestamp: number, number: number): LogKey {
  return { timestamp, id: String(number).padStart(9, '0'), bytes: 1, log_no: number };
}

void t.test('a page over many lists matches sorting all of them', async (t) => {
  // Few distinct times, so that many records share one within and across lists.
  const record = fc.record({ time: fc.integer({ min: 0, max: 9 }), slack: fc.integer({ min: 0, max: 2 }) });
  const lists = fc.array(fc.array(record, { minLength: 1, maxLength: 400 }), { minLength: 1, maxLength: 12 });
  const page = fc.record({ offset: fc.nat({ max: 2000 }), limit: fc.integer({ min: 1, max: 40 }) });
  await neverDiffers(
    t,
    { runs: 300, ms: 2000 },
    [lists, fc.integer({ min: 1, max: 20 }), fc.array(page, { minLength: 1, maxLength: 5 })],
    async (made, copies, pages) => {
      let number = 0;
      const keys = made.map((list) =>
        Array.from({ length: copies }, () => list)
          .flat()
          .map(({ time, slack }) => keyOf(time * 10 + slack, (number++ * 7919) % 1_000_003))
          .sort(newestFirst),
      );
      const all = keys.flat().sort(newestFirst);
      const wanted = keys.map((list, i): MadeUp => {
        const times = list.map(({ timestamp }) => timestamp);
        // The bounds of a block include records that do not match.
        const slack = made[i]?.[0]?.slack ?? 0;
        return {
          count: list.length,
          newest: Math.max(...times) + slack,
          oldest: Math.min(...times) - slack,
          at: (place) => list[place] ?? keyOf(-1, -1),
        };
      });
      for (const { offset, limit } of pages) {
        const from = offset % all.length;
        same((await pageOf(wanted, { offset: from, limit })).page, all.slice(from, from + limit));
      }
    },
  );
});

void t.test('the cost of a page does not depend on its offset', async (t) => {
  const [count, limit] = [65_536, 100];
  for (const blocks of [1, 3, 200]) {
    const total = count * blocks;
    // Every list covers the whole time range.
    const lists = Array.from({ length: blocks }, (_, i): MadeUp => {
      const at = (place: number): LogKey => keyOf(total - place * blocks - i, i);
      return { count, newest: total, oldest: 1, at };
    });
    for (const offset of [0, 1, Math.floor(total / 3), total - limit - 1, total - 1]) {
      const { page, keys } = await pageOf(lists, { offset, limit });
      t.strictSame(
        page.map(({ timestamp }) => timestamp),
        Array.from({ length: Math.min(limit, total - offset) }, (_, i) => total - offset - i),
      );
      t.ok(keys < 20_000, `${keys} keys for the page at ${offset} of ${total} in ${blocks} lists`);
    }
  }
});

void t.test('positions are read back from the end in any encoding', (t) => {
  const positions = fc.oneof(
    fc.uniqueArray(fc.integer({ min: 0, max: 65_535 }), { minLength: 1, maxLength: 100 }),
    // Enough positions for a bitmap.
    fc
      .tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 2, max: 9 }))
      .map(([from, step]) => Array.from({ length: Math.floor(65_535 / step) }, (_, i) => from + i * step)),
  );
  holds(
    t,
    fc.property(positions, fc.array(fc.nat(), { maxLength: 20 }), (found, asked) => {
      const ascending = Uint16Array.from(found).sort();
      const places = [
        ...new Set([0, ascending.length - 1, ...asked.map((place) => place % ascending.length)]),
      ].sort((a, b) => a - b);
      const kept = Positions.of(ascending);
      same(
        kept.fromEnd(places),
        places.map((place) => ascending[ascending.length - 1 - place]),
      );
      same(kept.count, ascending.length);
      return kept.bytes <= 8192;
    }),
    { numRuns: 200 },
  );
  t.strictSame(Positions.within({ first: 3, last: 9 }).fromEnd([0, 6]), [9, 3]);
  t.end();
});

void t.test('finds a distant page without reading the keys before it', async (t) => {
  const engine = await EventEngine.open(t, { segmentSize: { rows: 5000, bytes: 1e9 } });
  const { tenant } = await engine.addUser(null);
  const [batches, size] = [32, 1000];
  const records = batches * size;
  const encoder = new LogsEncoder();
  const write = async (batch: number): Promise<void> => {
    const items = Array.from({ length: size }, (_, i) => {
      // Each batch covers the whole time range.
      const number = i * batches + batch;
      return aLog({
        id: uuidV7InOrder(NOON / 1000, number),
        timestamp: NOON + number,
        body: `number ${number} of many`,
      });
    });
    await engine.parts.logs.write(engine.parts.writer, { ...encoder.encode({ items }, 0), tenant });
  };
  for (let batch = 0; batch < batches; batch++) await write(batch);
  for (const state of ['hot and moved', 'moved']) {
    if (state === 'moved') await engine.settle();
    for (const query of ['many', '"of many"']) {
      for (const offset of [records / 2 + 17, records - 3]) {
        await engine.read(async (connection, capture) => {
          let rows = 0;
          const chunksOf = connection.wholeChunks.bind(connection);
          connection.wholeChunks = async function* (...args) {
            for await (const chunk of chunksOf(...args)) {
              // A phrase search reads the record numbers of a block.
              if (!args[0].startsWith('SELECT (log_no')) rows += chunk.rows;
              yield chunk;
            }
          };
          // Blocks may be merged meanwhile.
          const { count, keys } = await connection.asOfNow(() =>
            searchLogs(connection, capture, tenant, { query }, { offset, limit: 10 }),
          );
          connection.wholeChunks = chunksOf;
          t.equal(count, records);
          t.strictSame(
            keys.map(({ timestamp }) => timestamp),
            Array.from({ length: Math.min(10, records - offset) }, (_, i) => NOON + records - 1 - offset - i),
          );
          t.ok(rows < 5000, `${rows} keys for the page at ${offset} of ${query}, ${state}`);
        });
      }
    }
  }
});
