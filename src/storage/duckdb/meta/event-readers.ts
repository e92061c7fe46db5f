import type { EventCursor } from '../../event-store.js';
import { LAST_PLACE } from '../events/event-place.js';
import { READERS } from './event-definitions.js';
import type { MetaConnection } from './meta-connection.js';
import type { MetaEvents } from './meta-events.js';

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

  /** Of a reader that was opened: to insert it where it is not there would take twice as long. */
  async save(reader: string, { commit, place, entry }: EventCursor): Promise<void> {
    const statement = `UPDATE ${READERS.name} SET commit = ?, place = ?, entry = ? WHERE name = ?`;
    await this.#connection.shared(() => this.#connection.run(statement, [commit, place, entry, reader]));
  }
}
