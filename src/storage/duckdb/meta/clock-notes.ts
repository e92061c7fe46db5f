import type { Micros } from '../../../signal/time.js';
import type { MetaConnection } from './meta-connection.js';
import { MetaTable } from './tables.js';

/** What retention knows of the clock: one row, or none. */
export const CLOCK_NOTE = new MetaTable('clock_note', [
  { name: 'trusted_at', kind: 'time', rule: 'NOT NULL' },
  { name: 'ahead_since', kind: 'time' },
  { name: 'ahead_at', kind: 'time' },
]);

/** How far the clock is believed, and since when it has been ahead of that. */
export interface ClockNote {
  readonly trustedAt: Micros;
  /** The clock when it was first seen to be ahead, and when it was last; null: it is not. */
  readonly ahead: { readonly since: Micros; readonly at: Micros } | null;
}

export class ClockNotes {
  readonly #connection: MetaConnection;

  constructor(connection: MetaConnection) {
    this.#connection = connection;
  }

  async read(): Promise<ClockNote | null> {
    const [row] = await this.#connection.read(CLOCK_NOTE.select());
    if (row === undefined) return null;
    const { ahead_since: since, ahead_at: at } = row;
    const ahead = typeof since === 'number' && typeof at === 'number' ? { since, at } : null;
    return { trustedAt: Number(row.trusted_at), ahead };
  }

  async write({ trustedAt, ahead }: ClockNote): Promise<void> {
    const row = { trusted_at: trustedAt, ahead_since: ahead?.since ?? null, ahead_at: ahead?.at ?? null };
    await this.#connection.transaction(async () => {
      await this.#connection.run('DELETE FROM clock_note');
      await this.#connection.run(...CLOCK_NOTE.insert(row));
    });
  }
}
