import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { sql } from 'kysely';
import { itemAt } from '../../../signal/checked.js';
import type { ControlDatabase } from '../control-database.js';
import { DatabaseFailure } from '../database-failure.js';
import { sqliteFailure } from './sqlite-failure.js';

/** A time long ago. Not 0, which says that nobody has it. */
const OVER = '1';

/**
 * Ends the leases and claims of earlier processes. The file belongs to one process at a time: whoever held a lease or a claim has
 * ended, so nobody has to wait for it to expire. The next one who claims finds their attempts interrupted. Writes nothing where
 * there is none to end.
 */
function endLeases(file: DatabaseSyncInstance): void {
  file.exec('begin immediate');
  try {
    file.exec(`update leases set expires_at = ${OVER} where expires_at > ${OVER}`);
    file.exec(`update waiting_deliveries set expires_at = ${OVER} where expires_at is not null`);
    file.exec(`update alert_notices set claimed_until = ${OVER} where claimed_until > ${OVER}`);
    file.exec(`update writes set expires_at = ${OVER} where ended_at is null and expires_at > ${OVER}`);
    file.exec('commit');
  } catch (error) {
    try {
      file.exec('rollback');
    } catch {
      // A full disk has rolled it back already.
    }
    throw error;
  }
}

/**
 * Free room that is needed before a disk that was full is written to as a test: a write that takes its last bytes would be
 * followed by failures again at once.
 */
const SPARE_BYTES = 1024 * 1024;
const MOST_VERSION = 1_000_000;

/**
 * Whether the file can be written. What a start has to write is written before anything else; on a full disk that happens later
 * than the start, which allows reads until then.
 */
export class FileWrites {
  readonly #file: DatabaseSyncInstance;
  readonly #path: string;
  /** Whether the start has written what it has to, which it cannot before the tables exist. */
  #start: 'not yet' | 'due' | 'done' = 'not yet';
  #healthIssue: DatabaseFailure | null = null;

  constructor(file: DatabaseSyncInstance, path: string) {
    this.#file = file;
    this.#path = path;
  }

  /** To be called when the tables exist. @throws DatabaseFailure, except for a full disk */
  open(): void {
    this.#start = 'due';
    try {
      this.begin();
    } catch (error) {
      if (!hasNoRoom(error)) throw error;
    }
  }

  /**
   * To be called before each transaction, since none may begin before the claims of earlier processes are ended.
   *
   * @throws DatabaseFailure
   */
  begin(): void {
    if (this.#start !== 'due') return;
    try {
      // A file that was closed in order has another journal mode, and changing it is a write.
      this.#file.exec('pragma journal_mode = wal');
      endLeases(this.#file);
    } catch (error) {
      throw this.failed(error);
    }
    this.#start = 'done';
  }

  /** Takes the error of a transaction. @returns what to throw */
  failed(error: unknown): DatabaseFailure {
    const failure = sqliteFailure(error);
    if (failure.kind === 'unavailable') this.#healthIssue = failure;
    return failure;
  }

  /** Writes a little if the last write failed. @throws Error that says where the problem is and what to do, while that fails */
  async check(database: ControlDatabase): Promise<void> {
    const healthIssue = this.#healthIssue;
    if (healthIssue === null) return;
    if (healthIssue.isNoRoom && (await freeBytes(this.#path)) < SPARE_BYTES) throw this.#told(healthIssue);
    try {
      await database.transaction(async (tx) => {
        // Nobody else uses that number, and SQLite would skip a row that stays as it is.
        const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(tx);
        const next = (itemAt(rows, 0).user_version + 1) % MOST_VERSION;
        await sql.raw(`pragma user_version = ${String(next)}`).execute(tx);
      });
    } catch {
      throw this.#told(this.#healthIssue ?? healthIssue);
    }
    this.#healthIssue = null;
  }

  #told({ message, isNoRoom }: DatabaseFailure): Error {
    const cure = isNoRoom ? 'Free space on its disk, or use a larger one' : 'Check its disk';
    return new Error(`Nothing can be written to ${this.#path}: ${message}. ${cure}; reads still work.`);
  }
}

/** Whether a failure says that there is no room. */
export function hasNoRoom(error: unknown): boolean {
  return error instanceof DatabaseFailure && error.isNoRoom;
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(dirname(path));
  return bavail * bsize;
}
