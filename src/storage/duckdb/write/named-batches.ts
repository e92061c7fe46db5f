import type { Micros } from '../../../signal/time.js';
import { NAMED_BATCHES } from '../../schema/named-batches-table.js';
import type { Connection } from '../files/connection.js';
import type { BatchName } from '../../shared/batch-name.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import type { Append } from './change.js';
import { objectRows, type Rows } from './rows.js';

/** Minimum time that a name is remembered, unless its user sends too many. Microseconds. */
export const REMEMBERED = 86_400_000_000;
/**
 * Limits on remembered names per user and in total, about 120 bytes each. Above a limit, the user that adds a name loses its
 * oldest.
 */
const OF_ONE_USER = 100_000;
const OF_ALL = 1_000_000;

/** The response to a batch. */
interface Remembered {
  readonly at: Micros;
  /** Positions of the items that were refused. */
  readonly refused: readonly number[];
}

/** An {@link Append} with the positions of its refused items. */
type NamedAppend = Append & { readonly refused?: readonly number[] };

/** Deduplicates named batches. The names are written in the transaction of their rows, and kept in memory. */
export class NamedBatches {
  /** By tenant and name, the oldest first. */
  readonly #known = new Map<number, Map<string, Remembered>>();
  readonly #underWay = new Map<string, Promise<unknown>>();
  readonly #ofOneUser: number;
  #count = 0;

  constructor(ofOneUser = OF_ONE_USER) {
    this.#ofOneUser = ofOneUser;
  }

  async load(connection: Connection, capture: Capture): Promise<void> {
    const rows = await connection.rows(
      `SELECT tenant, batch::VARCHAR AS batch, epoch_us(received_at) AS received_at, refused FROM ${relation(capture, NAMED_BATCHES)}
        QUALIFY row_number() OVER (PARTITION BY tenant ORDER BY seq DESC) <= ${this.#ofOneUser} ORDER BY seq`,
    );
    for (const { tenant, batch, received_at, refused } of rows) {
      const positions = refused === null ? [] : String(refused).split(',').map(Number);
      this.#remember(Number(tenant), String(batch), { at: Number(received_at), refused: positions });
    }
  }

  /**
   * Writes a batch once. A repeat waits while the batch is being written.
   *
   * @param append the rows to write; unused for a repeat
   * @param write resolves after the commit
   * @returns the result of `write`, or null for a repeat, and the positions of the items refused at the first write
   * @throws errors of `write`; the name is then not remembered
   */
  async once<Answer>(
    tenant: number,
    name: BatchName | undefined,
    append: NamedAppend,
    write: (append: Append) => Promise<Answer>,
  ): Promise<{ readonly answer: Answer | null; readonly refused: readonly number[] }> {
    if (name === undefined) return { answer: await write(append), refused: append.refused ?? [] };
    const key = `${tenant}/${name.batch}`;
    // If the running write fails, the repeat is written instead.
    for (let other; (other = this.#underWay.get(key)) !== undefined;) await other.catch(() => undefined);
    const known = this.#known.get(tenant)?.get(name.batch);
    if (known !== undefined) return { answer: null, refused: known.refused };
    const written = write(new RememberedAppend(append, tenant, name, this));
    this.#underWay.set(key, written);
    try {
      return { answer: await written, refused: append.refused ?? [] };
    } finally {
      this.#underWay.delete(key);
    }
  }

  /** After a commit. */
  committed(tenant: number, { batch, at }: BatchName, refused: readonly number[]): void {
    this.#remember(tenant, batch, { at, refused });
  }

  #remember(tenant: number, batch: string, one: Remembered): void {
    let known = this.#known.get(tenant);
    if (known === undefined) this.#known.set(tenant, (known = new Map<string, Remembered>()));
    if (!known.has(batch)) this.#count += 1;
    known.set(batch, one);
    for (const [oldest, { at }] of known) {
      const isTooMuch = known.size > this.#ofOneUser || this.#count > OF_ALL;
      if (!isTooMuch && at >= one.at - REMEMBERED) break;
      known.delete(oldest);
      this.#count -= 1;
    }
  }
}

/** An append, and the name of its batch. */
class RememberedAppend implements Append {
  readonly #append: NamedAppend;
  readonly #tenant: number;
  readonly #name: BatchName;
  readonly #names: NamedBatches;

  constructor(append: NamedAppend, tenant: number, name: BatchName, names: NamedBatches) {
    this.#append = append;
    this.#tenant = tenant;
    this.#name = name;
    this.#names = names;
  }

  get bytes(): number {
    return this.#append.bytes;
  }

  get weight(): number {
    return this.#append.weight;
  }

  get counted(): Append['counted'] {
    return this.#append.counted;
  }

  get items(): number {
    return this.#append.items;
  }

  get buffers(): readonly ArrayBuffer[] {
    return this.#append.buffers;
  }

  rows(seq: number): readonly Rows[] {
    const rows = this.#append.rows(seq);
    const { refused = [] } = this.#append;
    const { batch, at } = this.#name;
    const row = {
      seq,
      tenant: this.#tenant,
      batch,
      received_at: at,
      refused: refused.length === 0 ? null : refused.join(','),
    };
    return [...rows, ...objectRows(NAMED_BATCHES, [row])];
  }

  committed(): void {
    this.#append.committed();
    this.#names.committed(this.#tenant, this.#name, this.#append.refused ?? []);
  }

  rolledBack(): void {
    this.#append.rolledBack();
  }
}
