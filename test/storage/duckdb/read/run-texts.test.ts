import t from 'tap';
import { EventEngine, type Listener } from '../event-engine.js';
import { aHeader, NOON } from '../../../support/run-records.js';

const PAGE = { offset: 0, limit: 100 };

/** A store with small segments and its run searches. */
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

  /** Writes one commit per run; full segments are compacted. */
  async write(runs: readonly ReturnType<typeof aHeader>[]): Promise<void> {
    for (const trace of runs) await this.engine.write(this.#user, [{ trace, spans: [] }], NOON);
    await this.engine.parts.writer.sealIfFull();
    await this.engine.parts.compactor.settled();
  }

  /** Compacts everything. */
  async moveAll(): Promise<void> {
    await this.engine.settle();
  }

  /** The ids of the matching runs. */
  async list(query: string): Promise<string[]> {
    const { runs: reads } = this.engine.parts;
    const { items } = await reads.list(this.engine.asking(this.#user.tenant), { query }, PAGE);
    return items.map(({ trace_id: id }) => id);
  }
}

void t.test('finds a text in hot and compacted runs', async (t) => {
  const texts = await Texts.open(t);
  const runs = Array.from({ length: 100 }, (_, i) =>
    aHeader({ outcome: `Order ${1000 + i} paid`, error_message: i % 2 === 0 ? null : 'Card REFUSED' }),
  );
  await texts.write(runs);
  t.same(await texts.list('order 2000 PAID'), []);
  await texts.moveAll();
  t.same(await texts.list('order 2000 PAID'), [], 'nor where no file needs to be read');
  const all = runs.map(({ trace_id }) => trace_id);
  t.same(await texts.list('ORDER 1042'), [all[42]]);
  t.equal((await texts.list('card refused')).length, 50);
  t.equal((await texts.list('ord')).length, 100);
});

void t.test('finds a text in agent names', async (t) => {
  const texts = await Texts.open(t, 4);
  const runs = Array.from({ length: 40 }, (_, i) =>
    aHeader({ agent: i < 36 ? 'helper' : 'Order desk', outcome: i % 20 === 5 ? 'order paid' : 'nothing' }),
  );
  await texts.write(runs);
  const found = await texts.list('ORDER');
  const expected = runs.filter(({ agent, outcome }) => agent !== 'helper' || outcome !== 'nothing');
  t.same(found.sort(), expected.map(({ trace_id }) => trace_id).sort());
  t.equal(found.length, 6);
});

void t.test('matches any case, including letters that JavaScript folds differently', async (t) => {
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
    const found = async (query: string) => (await texts.list(query)).length;
    t.same(await Promise.all(outcomes.map(found)), [2, 2, 1, 1, 1, 1], where);
    t.same(
      [await found('istanbul'), await found('straße'), await found('ÅNGSTR'), await found('ΣΑΣ')],
      [1, 1, 1, 1],
    );
  }
});
