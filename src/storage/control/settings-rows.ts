import { MICROS_PER_DAY } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';
import type { PublishedSettings, SettingsBoard } from '../contracts/coordination.js';
import type { ControlDatabase } from './control-database.js';

/** Settings of dead processes are removed when settings that expire this much later are stored. */
const FORGOTTEN: Micros = MICROS_PER_DAY;

/** One row for each process that publishes. */
export class SettingsRows implements SettingsBoard {
  readonly #database: ControlDatabase;

  constructor(database: ControlDatabase) {
    this.#database = database;
  }

  async publish(owner: string, terms: PublishedSettings, until: Micros): Promise<void> {
    const changed = { terms: JSON.stringify(terms), until };
    await this.#database.transaction(async (tx, notify) => {
      await tx
        .insertInto('terms')
        .values({ owner, ...changed })
        .onConflict((conflict) => conflict.column('owner').doUpdateSet(changed))
        .execute();
      await tx
        .deleteFrom('terms')
        .where('until', '<', until - FORGOTTEN)
        .execute();
      notify('terms');
    });
  }

  async withdraw(owner: string): Promise<void> {
    await this.#database.transaction(async (tx, notify) => {
      const removed = await tx.deleteFrom('terms').where('owner', '=', owner).executeTakeFirst();
      if (removed.numDeletedRows > 0n) notify('terms');
    });
  }

  async all(now: Micros): Promise<readonly PublishedSettings[]> {
    const rows = await this.#database.read((db) =>
      db.selectFrom('terms').select('terms').where('until', '>', now).orderBy('owner').execute(),
    );
    return rows.map(({ terms }) => JSON.parse(terms) as PublishedSettings);
  }
}
