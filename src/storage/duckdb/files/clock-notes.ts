import type { Micros } from '../../../signal/time.js';
import type { Connection } from './connection.js';

/** The last trusted time of the clock, and since when the clock has been ahead of it. */
export interface ClockNote {
  readonly trustedAt: Micros;
  /** The clock's time when it was first found ahead, and at the latest check; null if it is not ahead. */
  readonly ahead: { readonly since: Micros; readonly at: Micros } | null;
}

/**
 * Stores the state of retention's clock in the main file. It is written once an hour into the file's log; the next start
 * checkpoints it.
 */
export class ClockNotes {
  readonly #connection: Connection;
  #last: Promise<unknown> = Promise.resolve();

  /** @param connection whose current database is the main file */
  constructor(connection: Connection) {
    this.#connection = connection;
  }

  async read(): Promise<ClockNote | null> {
    const [row] = await this.inTurn(() =>
      this.#connection.rows(
        'SELECT epoch_us(trusted_at) AS trusted_at, epoch_us(ahead_since) AS since, epoch_us(ahead_at) AS at FROM clock_note',
      ),
    );
    if (row === undefined) return null;
    const { since, at } = row;
    const ahead = typeof since === 'number' && typeof at === 'number' ? { since, at } : null;
    return { trustedAt: Number(row.trusted_at), ahead };
  }

  /** Durable when it resolves. */
  async write({ trustedAt, ahead }: ClockNote): Promise<void> {
    const [trusted, since, at] = [trustedAt, ahead?.since ?? null, ahead?.at ?? null].map((time) =>
      time === null ? 'NULL' : `make_timestamp(${String(time)})`,
    );
    await this.inTurn(async () => {
      try {
        await this.#connection.run(
          `BEGIN; DELETE FROM clock_note; INSERT INTO clock_note VALUES (${trusted}, ${since}, ${at}); COMMIT`,
        );
      } catch (error) {
        await this.#connection.run('ROLLBACK').catch(() => undefined);
        throw error;
      }
    });
  }

  /** Resolves when all writes requested so far are done. */
  async idle(): Promise<void> {
    await this.#last;
  }

  /** Runs work between two writes. */
  async inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    return await turn;
  }
}
