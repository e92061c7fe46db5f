import { randomFillSync } from 'node:crypto';
import { rmSync, statSync, truncateSync } from 'node:fs';
import { open, rm, statfs } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { ConsumeError } from '../../../component/consume-error.js';
import type { Clock, Logger } from '../../../component/telemetry.js';
import { PRIVATE_FILE } from '../../../config/private-path.js';
import type { HealthIssues } from './health-issues.js';

interface Parts {
  /** The main file's path: the reserve file is next to it. */
  readonly mainPath: string;
  /** The size of the reserve; 0 for none. */
  readonly bytes: number;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly healthIssues: HealthIssues;
}

/** How often to check whether there is space again. */
const LOOK_EVERY_MS = 1000;
const RETRY_AFTER_MS = 5000;
const PIECE_BYTES = 1024 * 1024;
/** Free space needed beyond the reserve before writes resume; with less they would be refused again at once. */
const SPARE_BYTES = 4 * PIECE_BYTES;
const TROUBLE = 'room on the disk';

/**
 * Reserves disk space for work that must continue on a full disk. A placeholder file is removed when the disk is full, so that
 * retention, the compactor and reads that spill have space. Writes of users are refused until the file fits again. Without it a
 * full disk could never be emptied, because removing rows also writes to the disk.
 */
export class DiskRoom {
  readonly #parts: Parts;
  readonly #path: string;
  #isShort = false;
  #refused = 0;
  readonly #stop = new AbortController();
  #cancel = (): void => undefined;
  #working: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.#parts = parts;
    const { mainPath } = parts;
    this.#path = join(dirname(mainPath), `${basename(mainPath).replace(/\.(duckdb|db)$/, '')}.reserve`);
  }

  /** Whether writes of users are refused. */
  get isShort(): boolean {
    return this.#isShort;
  }

  /** Writes refused since the start. */
  get refused(): number {
    return this.#refused;
  }

  /** Call before any file is opened, because a start needs some disk space. */
  async begin(): Promise<void> {
    const { bytes, mainPath } = this.#parts;
    if (bytes === 0) rmSync(this.#path, { force: true });
    const kept = this.#keptBytes();
    if (kept > bytes) truncateSync(this.#path, bytes);
    const free = await freeBytes(dirname(mainPath));
    if (kept > 0 && free < SPARE_BYTES) this.#ranOut(`${free} bytes are free`);
    await this.#working;
  }

  /** Creates the reserve in the background. Call after everything is open. */
  keep(): void {
    if (!this.#isShort) this.#working = this.#make().then(() => undefined);
  }

  /** Takes an error: the disk may be full. */
  notice(error: unknown): void {
    if (isNoRoom(error)) this.#ranOut(error);
  }

  /** @throws ConsumeError `storage_unavailable`, retryable, while there is no space for writes of users */
  check(): void {
    if (!this.#isShort) return;
    this.#refused++;
    throw new ConsumeError('The disk of the store is full: writes are refused until space is free.', {
      code: 'storage_unavailable',
      retryable: true,
      retryAfterMs: RETRY_AFTER_MS,
    });
  }

  /** Ends the checks. The reserve stays. */
  async close(): Promise<void> {
    this.#stop.abort();
    this.#cancel();
    await this.#working;
  }

  #ranOut(cause: unknown): void {
    if (this.#isShort || this.#stop.signal.aborted) return;
    this.#isShort = true;
    const { logger, healthIssues, bytes } = this.#parts;
    logger.error(
      { err: cause },
      'The disk of the store is full: writes are refused until space is free; reads and retention continue.',
    );
    healthIssues.set(
      TROUBLE,
      `The disk of the store is full: reads and retention continue, writes are refused until ${mebibytes(this.#needed)} MiB are free. Free space, use a larger disk, or shorten extensions.duckdb.retention.`,
      'recoverable',
    );
    if (bytes > 0) this.#working = this.#working.then(() => this.#giveUp());
    this.#lookLater();
  }

  get #needed(): number {
    return this.#parts.bytes + SPARE_BYTES;
  }

  #lookLater(): void {
    if (this.#stop.signal.aborted) return;
    this.#cancel = this.#parts.clock.after(LOOK_EVERY_MS, () => {
      this.#working = this.#working.then(() => this.#look());
    });
  }

  async #look(): Promise<void> {
    try {
      // A failed attempt takes space from work that needs it.
      if ((await freeBytes(dirname(this.#path))) >= this.#needed && (await this.#make())) this.#isEnough();
    } catch (error) {
      this.#parts.logger.warn({ err: error }, 'Could not read free disk space.');
    }
    if (this.#isShort) this.#lookLater();
  }

  /** @returns whether the reserve exists */
  async #make(): Promise<boolean> {
    const { bytes, logger } = this.#parts;
    try {
      if (bytes > 0 && this.#keptBytes() !== bytes) await this.#write();
    } catch (error) {
      await this.#giveUp();
      if (isNoRoom(error)) this.#ranOut(error);
      else if (!this.#stop.signal.aborted)
        logger.warn({ err: error }, 'Could not write the reserve file of the store.');
      // Only the attempt shows what a disk quota allows.
      return false;
    }
    return true;
  }

  #isEnough(): void {
    const { logger, healthIssues } = this.#parts;
    if (!this.#isShort || this.#stop.signal.aborted) return;
    this.#isShort = false;
    healthIssues.set(TROUBLE, null);
    logger.info({}, 'There is room on the disk of the store again: writes go on.');
  }

  /** Writes bytes that no file system can compress. */
  async #write(): Promise<void> {
    const { bytes } = this.#parts;
    const piece = randomFillSync(Buffer.alloc(Math.min(bytes, PIECE_BYTES)));
    const file = await open(this.#path, 'w', PRIVATE_FILE);
    try {
      for (let left = bytes; left > 0 && !this.#stop.signal.aborted; left -= piece.length)
        await file.writeFile(piece.subarray(0, Math.min(left, piece.length)));
      // Some file systems take the room only then.
      await file.sync();
    } finally {
      await file.close();
    }
  }

  async #giveUp(): Promise<void> {
    try {
      await rm(this.#path, { force: true });
    } catch (error) {
      this.#parts.logger.warn({ err: error }, 'Could not remove the reserve file of the store.');
    }
  }

  #keptBytes(): number {
    return statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
  }
}

/** Whether an error says that the disk is full, or the share of it that its user may take. */
export function isNoRoom(error: unknown): boolean {
  const text = error instanceof Error ? error.message : String(error);
  if (/No space left on device|Disk quota exceeded|ENOSPC|EDQUOT/.test(text)) return true;
  return error instanceof Error && error.cause !== undefined && isNoRoom(error.cause);
}

/** Whether DuckDB has reached its limit for temporary files, which it sets from the free space at the first spill. */
export function isSpillRefused(error: unknown): boolean {
  return error instanceof Error && error.message.includes('max_temp_directory_size');
}

async function freeBytes(directory: string): Promise<number> {
  const { bavail, bsize } = await statfs(directory);
  return bavail * bsize;
}

function mebibytes(bytes: number): number {
  return Math.ceil(bytes / (1024 * 1024));
}
