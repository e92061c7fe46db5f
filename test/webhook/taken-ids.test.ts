import fc from 'fast-check';
import t from 'tap';
import { uuidV7 } from '../../src/signal/ids.js';
import { TAKEN_EVENTS } from '../../src/storage/duckdb/meta/delivery-definitions.js';
import { MetaConnection } from '../../src/storage/duckdb/meta/meta-connection.js';
import { TakenIds } from '../../src/storage/duckdb/meta/taken-ids.js';
import { openMetaTables } from '../storage/opened-meta-tables.js';
import { neverDiffers, same } from '../support/property.js';

const NOON = 1_760_000_000_000;
/** So few are known by themselves here that some are dropped. */
const MOST = 5;

/** By number: ids of events, some of which come again, and not quite in their order, as clocks are set back. */
const IDS = Array.from({ length: 24 }, (_, i) => uuidV7(NOON + i * 7 - (i % 5 === 0 ? 20 : 0)));

type Step =
  | { readonly kind: 'take'; readonly ids: readonly number[]; readonly fails: boolean }
  | { readonly kind: 'remove'; readonly id: number }
  | { readonly kind: 'open' };

const anId = fc.nat({ max: IDS.length - 1 });
const aStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('take'),
      ids: fc.array(anId, { minLength: 1, maxLength: 6 }),
      fails: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove'), id: anId }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('open') }) },
);

void t.test('what was taken is known as the table has it, whatever fails or is removed', async (t) => {
  const opened = await openMetaTables(t);
  const connection = new MetaConnection(await opened.connect(), opened.file);
  const inTransaction = async (work: () => Promise<void>): Promise<void> => {
    await connection.transaction(work);
  };
  const steps = fc.array(aStep, { minLength: 5, maxLength: 30 });
  await neverDiffers(t, { runs: 40, ms: 3000 }, [steps], async (steps) => {
    await inTransaction(() => connection.run('DELETE FROM taken_events'));
    let taken = new TakenIds(connection, MOST);
    const table = new Set<string>();
    let number = 0;
    for (const step of steps) {
      if (step.kind === 'open') {
        taken = new TakenIds(connection, MOST);
        await inTransaction(() => taken.load());
      } else if (step.kind === 'remove') {
        const id = IDS[step.id] ?? '';
        table.delete(id);
        await inTransaction(() => connection.run('DELETE FROM taken_events WHERE id = ?::UUID', [id]));
        taken.doubt();
      } else {
        const fresh = new Set<string>();
        const work = inTransaction(async () => {
          for (const id of step.ids.map((place) => IDS[place] ?? '')) {
            const isTaken = (await taken.among([id])).has(id);
            same({ id, isTaken }, { id, isTaken: table.has(id) || fresh.has(id) });
            if (isTaken) continue;
            fresh.add(id);
            taken.add(id);
            const row = { number: ++number, id, type: 'trace.failed', taken_at: NOON, body: '{}' };
            connection.insert(TAKEN_EVENTS, [row]);
          }
          if (step.fails) throw new Refused();
        });
        const hasFailed = await work.then(
          () => false,
          (error: unknown) => {
            if (!(error instanceof Refused)) throw error;
            return true;
          },
        );
        if (!hasFailed) for (const id of fresh) table.add(id);
      }
    }
  });
});

class Refused extends Error {}
