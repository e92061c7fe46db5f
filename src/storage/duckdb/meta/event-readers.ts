import type { EventCursor } from '../../event-store.js';
import { READERS } from './event-definitions.js';
import type { MetaConnection } from './meta-connection.js';
import type { MetaEvents } from './meta-events.js';

/** Behind all events of a commit. */
const LAST_PLACE = 2 ** 31 - 1;

/** How far the readers of events have come, in the main file. */
export class EventReaders {
  readonly #connection: MetaConnection;
  readonly #events: MetaEvents;

  constructor(connection: MetaConnection, events: MetaEvents) {
    this.#connection = connection;
    this.#events = events;
  }

  /**
   * Where a reader goes on; a new one behind all that was committed.
   *
   * @param lastCommit tells the newest commit of telemetry
   */
  async open(reader: string, lastCommit: () => number): Promise<EventCursor> {
    return await this.#connection.transaction(async () => {
      const [row] = await this.#connection.rows(READERS.select('WHERE name = ?'), [reader]);
      if (row !== undefined)
        return { commit: Number(row.commit), place: Number(row.place), entry: Number(row.entry) };
      const cursor = { commit: lastCommit(), place: LAST_PLACE, entry: this.#events.lastNumber };
      await this.#connection.run(...READERS.insert({ name: reader, ...cursor }));
      return cursor;
    });
  }

  async save(reader: string, { commit, place, entry }: EventCursor): Promise<void> {
    const [insert, values] = READERS.insert({ name: reader, commit, place, entry });
    const update =
      'ON CONFLICT DO UPDATE SET commit = excluded.commit, place = excluded.place, entry = excluded.entry';
    await this.#connection.shared(() => this.#connection.run(`${insert} ${update}`, values));
  }
}
