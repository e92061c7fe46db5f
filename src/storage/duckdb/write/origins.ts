import type { ColumnsReader } from '../../../worker/columns-reader.js';
import type { TableRow } from '../../schema/table.js';
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ORIGINS } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { objectRows, type Rows } from './rows.js';

/** Size of the LRU cache, at some 200 bytes per entry. */
const REMEMBERED = 10_000;

/**
 * The numbers that rows store in place of their resource and scope. An origin that was evicted from the cache gets a second number,
 * which is harmless: every number stays valid.
 */
export class Origins {
  /** By digest. */
  readonly #numbers = new LRUCache<string, number>({ max: REMEMBERED });
  readonly #added = new Set<string>();
  #lastNumber = 0;

  async load(connection: Connection, capture: Capture): Promise<void> {
    this.#lastNumber = capture.lastNumber;
    const rows = await connection.rows(
      `SELECT origin_no, sha256(origin) AS digest FROM ${relation(capture, ORIGINS)} ORDER BY origin_no DESC LIMIT ${REMEMBERED}`,
    );
    for (const row of rows.reverse()) {
      const number = Number(row.origin_no);
      this.#numbers.set(String(row.digest), number);
      this.#lastNumber = Math.max(this.#lastNumber, number);
    }
  }

  /** @returns the number, and whether it is new, so that the commit must write it */
  number(origin: Uint8Array): { readonly number: number; readonly isNew: boolean } {
    const digest = createHash('sha256').update(origin).digest('hex');
    const known = this.#numbers.get(digest);
    const number = known ?? ++this.#lastNumber;
    if (known === undefined) {
      this.#added.add(digest);
      this.#numbers.set(digest, number);
    }
    return { number, isNew: known === undefined };
  }

  committed(): void {
    this.#added.clear();
  }

  /** Removes the origins added since the last commit. */
  rollback(): void {
    for (const digest of this.#added) this.#numbers.delete(digest);
    this.#added.clear();
  }
}

/** The store numbers of the origins of a message. */
export interface NumberedOrigins {
  /** By their position in the message. */
  readonly numbers: readonly number[];
  /** Rows for origins that are new to the store. */
  readonly rows: readonly Rows[];
}

/** @param message in columns of `ORIGIN_MESSAGE` */
export function numberOrigins(
  origins: Origins,
  message: ColumnsReader,
  { seq, tenant }: { readonly seq: number; readonly tenant: number },
): NumberedOrigins {
  const added: TableRow<typeof ORIGINS>[] = [];
  const numbers = Array.from({ length: message.rows }, (_, row) => {
    const bytes = message.textBytes(0, row);
    const { number, isNew } = origins.number(bytes);
    if (isNew) added.push({ seq, tenant, origin_no: number, origin: bytes.toString('utf8') });
    return number;
  });
  return { numbers, rows: objectRows(ORIGINS, added) };
}
