import fc from 'fast-check';
import t from 'tap';
import { gramHashes, TextGrams } from '../../src/storage/duckdb/texts/text-grams.js';
import { EventEngine } from '../events/event-engine.js';
import { aHeader, DAY, NOON } from '../support/run-records.js';
import { inColdFile, wrongSumsIn } from './stored-rows.js';
import { TestStore } from './test-store.js';
import { queriesDuring, rowsScannedBy } from './watched-statements.js';

const PAGE = { offset: 0, limit: 100 };

/** Whether texts with these bits may have the text; the bits are numbered as DuckDB's `get_bit` does. */
function mayHave(bits: Uint8Array, text: string): boolean {
  return gramHashes(Buffer.from(text)).every((hash) => {
    const place = hash % (bits.length * 8);
    return ((bits[place >>> 3] ?? 0) & (0x80 >>> (place & 7))) !== 0;
  });
}

void t.test('no part of a text is ever ruled out, and most others are', async (t) => {
  const texts = fc.array(fc.string({ unit: 'binary', maxLength: 300 }), { maxLength: 20 });
  const found = fc.check(
    fc.property(texts, fc.nat(), fc.nat(), fc.nat(), (all, which, from, length) => {
      const grams = new TextGrams();
      for (const text of all) grams.add(Buffer.from(text));
      const bits = grams.print();
      const text = all[which % Math.max(1, all.length)] ?? '';
      const start = from % (text.length + 1);
      const part = Buffer.from(text.slice(start, start + (length % (text.length + 1)))).toString();
      // A cut through a pair of surrogates gives a character that the text does not have.
      return bits === null || !Buffer.from(text).includes(part) || mayHave(bits, part);
    }),
    { numRuns: 300 },
  );
  t.notOk(found.failed, fc.defaultReportMessage(found) ?? '');
  const grams = new TextGrams();
  for (let i = 0; i < 200; i++) grams.add(Buffer.from(`the order ${i} was paid by card ${i * 7919}`));
  const bits = grams.print();
  if (bits === null) throw new Error('so few texts have bits');
  const others = Array.from({ length: 1000 }, (_, i) => `refund ${i * 104_729}`);
  t.ok(others.filter((text) => mayHave(bits, text)).length < 10, 'few others pass');
  t.ok(bits.length < 4096, 'few texts take little room');
});

void t.test('texts with very many different parts have no bits', async (t) => {
  const grams = new TextGrams();
  let state = 1;
  const noise = Buffer.alloc(1024 * 1024);
  for (let at = 0; at < noise.length; at++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    noise[at] = state >>> 24;
  }
  grams.add(noise);
  t.equal(grams.print(), null);
});

void t.test('a text is looked for only where a moved run may have it', async (t) => {
  const engine = await EventEngine.open(t, { segmentSize: { rows: 10, bytes: 1e9 } });
  const user = await engine.addUser(null);
  const runs = Array.from({ length: 100 }, (_, i) =>
    aHeader({ outcome: `Order ${1000 + i} paid`, error_message: i % 2 === 0 ? null : 'Card REFUSED' }),
  );
  for (const trace of runs) await engine.write(user, [{ trace, spans: [] }], NOON);
  await engine.parts.mover.settled();
  const { database, runs: reads } = engine.parts;
  const list = async (query: string, lower: string): Promise<{ found: string[]; scanned: number }> => {
    let found: string[] = [];
    const queries = await queriesDuring(database, async () => {
      const { items } = await reads.list(engine.read, user.tenant, { query }, PAGE);
      found = items.map(({ trace_id }) => trace_id);
    });
    const bound = queries.map((sql) => sql.replaceAll('$1', `'${lower}'`));
    return {
      found,
      scanned: await rowsScannedBy(
        database,
        bound.filter((sql) => !sql.includes('text_blocks')),
      ),
    };
  };
  const missing = await list('order 2000 PAID', 'order 2000 paid');
  t.same(missing.found, []);
  t.ok(missing.scanned <= 10, `of 100 runs ${missing.scanned} are looked at for a text that none has`);
  const all = runs.map(({ trace_id }) => trace_id);
  t.same((await list('ORDER 1042', 'order 1042')).found, [all[42]]);
  t.equal((await list('card refused', 'card refused')).found.length, 50);
  t.equal((await list('ord', 'ord')).found.length, 100, 'a text of three bytes is looked for everywhere');
});

void t.test(
  'what is known of the texts of moved runs is kept over a start, and goes with the runs',
  async (t) => {
    const opened = await TestStore.open(t, { segmentSize: { rows: 2, bytes: 1e9 }, traceRetentionDays: 3 });
    const user = await opened.addUser();
    const write = async (outcome: string, at: number): Promise<void> => {
      for (let i = 0; i < 20; i++) {
        const trace = aHeader({ outcome: `${outcome} ${i}`, started_at: at });
        await opened.store.writeTraces({ tenant: user, items: [{ trace, spans: [] }] }, { receivedAt: NOON });
      }
    };
    await write('grandmother', NOON - 2 * DAY);
    await write('grandchild', NOON);
    await opened.store.settled();
    const count = async (query: string) => (await opened.store.listRuns(user, { query }, PAGE)).count;
    const blocks = async () => {
      const [row] = await inColdFile(opened.path, 'SELECT count(*) AS blocks FROM text_blocks');
      return Number(row?.blocks);
    };
    await opened.reopen();
    t.same([await count('Grandmother'), await count('grandCHILD 1'), await count('grand')], [20, 11, 40]);
    await opened.close();
    const before = await blocks();
    t.ok(before >= 10, `${before} segments were moved`);
    t.same(await wrongSumsIn(opened.path), []);
    await opened.start();
    opened.settings.clock.advance(DAY / 1000);
    for (let reads = 0; (await count('grandmother')) > 0; reads++) {
      if (reads % 200 === 199) opened.settings.clock.advance(3_600_000);
    }
    t.same([await count('grandchild'), await count('grand')], [20, 20]);
    await opened.close();
    const after = await blocks();
    t.ok(after <= before - 4, `${after} of ${before} are left`);
    t.same(await wrongSumsIn(opened.path), []);
  },
);
