import type { MetaConnection } from './meta-connection.js';

/** Ids of events that are known by themselves. */
const MOST_IDS = 5000;
const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Which events were taken before. Ids are UUIDv7, which grow with time, so that nearly every event is newer than all that were
 * taken: the database is asked only about those that are not. Methods are part of the transaction under way, where
 * nothing else is said.
 */
export class TakenIds {
  readonly #connection: MetaConnection;
  readonly #most: number;
  /** Of events that were taken, the last. */
  readonly #known = new Set<string>();
  /** No event with a greater id was taken, save the known ones. */
  #mark = FIRST_ID;
  /** Taken in the transaction under way. */
  readonly #fresh = new Set<string>();

  constructor(connection: MetaConnection, most = MOST_IDS) {
    this.#connection = connection;
    this.#most = most;
    connection.onRollback(() => {
      // Whether they were written is not known after a commit that failed.
      for (const id of this.#fresh) this.#raiseMark(id);
      this.#fresh.clear();
    });
  }

  async load(): Promise<void> {
    const [row] = await this.#connection.rows('SELECT max(id)::VARCHAR AS last FROM taken_events');
    if (typeof row?.last === 'string') this.#raiseMark(row.last);
  }

  /** Those of the ids whose events were taken. */
  async among(ids: readonly string[]): Promise<Set<string>> {
    const taken = new Set(ids.filter((id) => this.#known.has(id) || this.#fresh.has(id)));
    const doubtful = ids.filter((id) => id <= this.#mark && !taken.has(id));
    if (doubtful.length === 0) return taken;
    const rows = await this.#connection.rows(
      `SELECT id::VARCHAR AS id FROM taken_events WHERE id IN (${doubtful.map(() => '?::UUID').join(', ')})`,
      doubtful,
    );
    for (const { id } of rows) taken.add(String(id));
    return taken;
  }

  /** An event is taken. */
  add(id: string): void {
    if (this.#fresh.size === 0)
      this.#connection.afterCommit(() => {
        this.#keep();
      });
    this.#fresh.add(id);
  }

  /** Events were removed: of all that were taken the database is asked. At any time. */
  doubt(): void {
    for (const id of this.#known) this.#raiseMark(id);
    this.#known.clear();
  }

  #keep(): void {
    for (const id of this.#fresh) this.#known.add(id);
    this.#fresh.clear();
    for (const id of this.#known) {
      if (this.#known.size <= this.#most) return;
      this.#known.delete(id);
      this.#raiseMark(id);
    }
  }

  #raiseMark(id: string): void {
    if (id > this.#mark) this.#mark = id;
  }
}
