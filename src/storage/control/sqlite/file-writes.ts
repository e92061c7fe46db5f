import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DatabaseSyncInstance } from '@photostructure/sqlite';
import { sql } from 'kysely';
import { itemAt } from '../../../signal/checked.js';
import type { ControlDatabase } from '../control-database.js';
import { DatabaseFailure } from '../database-failure.js';
import { sqliteFailure } from './sqlite-failure.js';

/** An expired time. Not 0, which means unclaimed. */
const OVER = '1';

/**
 * Ends the leases and claims of earlier processes. One process uses the file at a time, so every earlier holder has ended and its leases
 * need not expire. The next claim finds their attempts interrupted. Writes nothing if there are none.
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
      // A full disk has already caused a rollback.
    }
    throw error;
  }
}

/**
 * Free space required before testing writes on a disk that was full: otherwise a write could use the last bytes and the next one would
 * fail.
 */
const SPARE_BYTES = 1024 * 1024;
const MOST_VERSION = 1_000_000;

/**
 * Whether the file can be written. The required writes of a start come before all others; on a full disk they are postponed, and reads
 * work until then.
 */
export class FileWrites {
  readonly #file: DatabaseSyncInstance;
  readonly #path: string;
  /** The state of the required writes, which need the tables to exist. */
  #start: 'not yet' | 'due' | 'done' = 'not yet';
  #healthIssue: DatabaseFailure | null = null;

  constructor(file: DatabaseSyncInstance, path: string) {
    this.#file = file;
    this.#path = path;
  }

  /** Must be called when the tables exist. @throws DatabaseFailure, except for a full disk */
  open(): void {
    this.#start = 'due';
    try {
      this.begin();
    } catch (error) {
      if (!hasNoRoom(error)) throw error;
    }
  }

  /**
   * Must be called before each transaction: none may begin before the claims of earlier processes are ended.
   *
   * @throws DatabaseFailure
   */
  begin(): void {
    if (this.#start !== 'due') return;
    try {
      // A cleanly closed file has another journal mode, and changing it is a write.
      this.#file.exec('pragma journal_mode = wal');
      endLeases(this.#file);
    } catch (error) {
      throw this.failed(error);
    }
    this.#start = 'done';
  }

  /** Handles the error of a transaction. @returns the error to throw */
  failed(error: unknown): DatabaseFailure {
    const failure = sqliteFailure(error);
    if (failure.kind === 'unavailable') this.#healthIssue = failure;
    return failure;
  }

  /** Tests a small write if the last write failed. @throws Error with the location and the remedy if the test fails */
  async check(database: ControlDatabase): Promise<void> {
    const healthIssue = this.#healthIssue;
    if (healthIssue === null) return;
    if (healthIssue.isNoRoom && (await freeBytes(this.#path)) < SPARE_BYTES)
      throw this.#writeError(healthIssue);
    try {
      await database.transaction(async (tx) => {
        // `user_version` is otherwise unused; SQLite would not write an unchanged row.
        const { rows } = await sql<{ user_version: number }>`pragma user_version`.execute(tx);
        const next = (itemAt(rows, 0).user_version + 1) % MOST_VERSION;
        await sql.raw(`pragma user_version = ${String(next)}`).execute(tx);
      });
    } catch {
      throw this.#writeError(this.#healthIssue ?? healthIssue);
    }
    this.#healthIssue = null;
  }

  #writeError({ message, isNoRoom }: DatabaseFailure): Error {
    const advice = isNoRoom ? 'Free space on its disk, or use a larger one' : 'Check its disk';
    return new Error(`Nothing can be written to ${this.#path}: ${message}. ${advice}; reads still work.`);
  }
}

/** Whether an error means that there is no space. */
export function hasNoRoom(error: unknown): boolean {
  return error instanceof DatabaseFailure && error.isNoRoom;
}

async function freeBytes(path: string): Promise<number> {
  const { bavail, bsize } = await statfs(dirname(path));
  return bavail * bsize;
}
