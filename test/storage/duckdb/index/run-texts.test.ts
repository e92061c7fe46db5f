import fc from 'fast-check';
import t from 'tap';
import { gramHashes, TextGrams } from '../../../../src/storage/duckdb/index/text-grams.js';
import { EventEngine, type Listener } from '../event-engine.js';
import { aHeader, DAY, NOON } from '../../../support/run-records.js';
import { inColdFile, wrongSumsIn } from '../stored-rows.js';
import { TestStore } from '../test-store.js';
import { queriesDuring, rowsScannedBy } from '../watched-statements.js';

const PAGE = { offset: 0, limit: 100 };

/** A store of small segments, and the lists of runs with a text. */
class Texts {
  readonly engine: EventEngine;
  readonly #user: Listener;

  constructor(engine: EventEngine, user: Listener) {
    this.engine = engine;
    this.#user = user;
  }

  static async open(test: Parameters<typeof EventEngine.open>[0], rows = 10): Promise<Texts> {
    const engine = await EventEngine.open(test, { segmentSize: { rows, bytes: 1e9 } });
    return new Texts(engine, await engine.addUser(null));
  }

  /** A commit for each run, moved as far as segments are full. */
  async write(runs: readonly ReturnType<typeof aHeader>[]): Promise<void> {
    for (const trace of runs) await this.engine.write(this.#user, [{ trace, spans: [] }], NOON);
    await this.engine.parts.writer.sealIfFull();
    await this.engine.parts.compactor.settled();
  }

  /** Moves all that there is. */
  async moveAll(): Promise<void> {
    await this.engine.settle();
  }

  /** What is found, by which queries, and how many rows of runs they scan. */
  async list(query: string) {
    const { database, runs: reads } = this.engine.parts;
    let found: string[] = [];
    const queries = await queriesDuring(database, async () => {
      const { items } = await reads.list(this.engine.asking(this.#user.tenant), { query }, PAGE);
      found = items.map(({ trace_id }) => trace_id);
    });
    const bound = queries.map((sql) => sql.replaceAll('$1', `'${query.toLowerCase()}'`));
    const ofRuns = bound.filter((sql) => !sql.includes('text_blocks'));
    return { found, queries, scanned: await rowsScannedBy(database, ofRuns) };
  }
}

/** The parts of the query that counts the runs found. */
function countIn(queries: readonly string[]): string[] {
  const count = queries.find((sql) => sql.includes('count(*) AS runs'));
  return count?.split('UNION ALL') ?? [];
}

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
  const texts = await Texts.open(t);
  const runs = Array.from({ length: 100 }, (_, i) =>
    aHeader({ outcome: `Order ${1000 + i} paid`, error_message: i % 2 === 0 ? null : 'Card REFUSED' }),
  );
  await texts.write(runs);
  const missing = await texts.list('order 2000 PAID');
  t.same(missing.found, []);
  t.ok(missing.scanned <= 10, `of 100 runs ${missing.scanned} are looked at for a text that none has`);
  await texts.moveAll();
  t.same((await texts.list('order 2000 PAID')).found, [], 'nor is it found where no file need be asked');
  const all = runs.map(({ trace_id }) => trace_id);
  t.same((await texts.list('ORDER 1042')).found, [all[42]]);
  t.equal((await texts.list('card refused')).found.length, 50);
  t.equal((await texts.list('ord')).found.length, 100, 'a text of three bytes is looked for everywhere');
});

void t.test('also where agents have it in their names, whose runs are found as well', async (t) => {
  const texts = await Texts.open(t, 4);
  const runs = Array.from({ length: 40 }, (_, i) =>
    aHeader({ agent: i < 36 ? 'helper' : 'Order desk', outcome: i % 20 === 5 ? 'order paid' : 'nothing' }),
  );
  await texts.write(runs);
  const { found, queries } = await texts.list('ORDER');
  const expected = runs.filter(({ agent, outcome }) => agent !== 'helper' || outcome !== 'nothing');
  t.same(found.sort(), expected.map(({ trace_id }) => trace_id).sort());
  t.equal(found.length, 6);
  const cold = countIn(queries).filter((part) => part.includes('FROM cold.main.traces'));
  const withTexts = cold.filter((part) => part.includes('contains('));
  t.ok(withTexts.length > 0 && withTexts.length < cold.length, 'the runs of the agent are found without it');
  t.same(
    withTexts.filter((part) => !/seq (BETWEEN|>) /.test(part)),
    [],
    'texts are looked at where they may be found',
  );
});

void t.test('hot segments are looked through once, wherever in the cold file a text may be', async (t) => {
  const texts = await Texts.open(t, 2);
  await texts.write(
    Array.from({ length: 60 }, (_, i) => aHeader({ outcome: i % 20 < 10 ? 'nothing' : `order ${i}` })),
  );
  const { queries } = await texts.list('order');
  const parts = countIn(queries);
  const partsOf = (file: RegExp): number => parts.filter((part) => file.test(part)).length;
  t.ok(partsOf(/FROM cold\.main\.traces/) > 1, 'the cold file is asked for ranges of commits');
  const capture = texts.engine.parts.segments.capture();
  const hot = capture.hot.filter(({ lastSeq }) => lastSeq > 0);
  capture.release();
  t.equal(partsOf(/FROM g\d+\.main\.traces/), hot.length);
});

void t.test(
  'letters are found in small or capital form, those that JavaScript knows otherwise, too',
  async (t) => {
    const texts = await Texts.open(t, 2);
    const outcomes = ['ΟΔΟΣ', 'οδοσ', 'İSTANBUL', 'ꟋETA', 'STRAẞE', 'Ångström'];
    const runs = outcomes.map((outcome) => aHeader({ outcome, agent: 'helper' }));
    runs.push(aHeader({ outcome: null, agent: 'ΣΑΣΑΣ' }));
    const filler = aHeader({ outcome: 'nothing', agent: 'helper' });
    for (const where of ['hot', 'cold']) {
      if (where === 'hot') await texts.write(runs);
      else
        await texts.write(
          Array.from({ length: 4 }, (_, i) => ({
            ...filler,
            trace_id: aHeader({}).trace_id,
            started_at: NOON + i,
          })),
        );
      const found = async (query: string) => (await texts.list(query)).found.length;
      t.same(await Promise.all(outcomes.map(found)), [2, 2, 1, 1, 1, 1], where);
      t.same(
        [await found('istanbul'), await found('straße'), await found('ÅNGSTR'), await found('ΣΑΣ')],
        [1, 1, 1, 1],
      );
    }
  },
);

void t.test(
  'what is known of the texts of moved runs is kept over a start, and goes with the runs',
  async (t) => {
    const opened = await TestStore.open(t, { segmentSize: { rows: 2, bytes: 1e9 }, traceRetentionDays: 3 });
    const user = await opened.addUser();
    const write = async (outcome: string, at: number): Promise<void> => {
      for (let i = 0; i < 20; i++) {
        const trace = aHeader({ outcome: `${outcome} ${i}`, started_at: at });
        await opened.store.writer.traces(
          { tenant: user, items: [{ trace, spans: [] }] },
          { receivedAt: NOON },
        );
        // A segment goes on growing while the next one is not made yet.
        await opened.store.settled();
      }
    };
    await write('grandmother', NOON - 2 * DAY);
    await write('grandchild', NOON);
    await opened.store.settled();
    const count = async (query: string) => (await opened.store.runs.list(user, { query }, PAGE)).count;
    const blocks = async () => {
      const [row] = await inColdFile(opened.path, 'SELECT count(*) AS blocks FROM text_blocks');
      return Number(row?.blocks);
    };
    await opened.reopen();
    t.same([await count('Grandmother'), await count('grandCHILD 1'), await count('grand')], [20, 11, 40]);
    await opened.close();
    const before = await blocks();
    t.ok(before >= 5, `${before} segments were moved`);
    t.same(await wrongSumsIn(opened.path), []);
    await opened.start();
    await opened.retained(DAY / 1000);
    t.same([await count('grandmother'), await count('grandchild'), await count('grand')], [0, 20, 20]);
    await opened.close();
    const after = await blocks();
    t.ok(after < before, `${after} of ${before} are left`);
    t.same(await wrongSumsIn(opened.path), []);
  },
);
