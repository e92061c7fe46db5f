import { stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { LOCK_FILE, lockDirectory, type DirectoryLock } from '../../../config/directory-lock.js';
import { makePrivate, makePrivateDirectory } from '../../../config/private-path.js';
import type { RoomWatch } from '../room-watch.js';
import { DiskBudget } from './disk-budget.js';

/** The directory of one exporter's queues, which belongs to this process alone. */
export class DiskPlace {
  readonly path: string;
  readonly budget: DiskBudget;
  #lock: DirectoryLock | null = null;
  #restoring: Promise<void> = Promise.resolve();

  /** @param exporter the exporter's id @param maxBytes of all of its queues @param room notified when they are full */
  constructor(directory: string, exporter: string, maxBytes: number, room?: RoomWatch) {
    this.path = placeOf(directory, exporter);
    this.budget = new DiskBudget(maxBytes, room);
  }

  /** Makes the directory, and takes it. @throws DirectoryTaken, the error of the file system */
  async open(): Promise<void> {
    await makePrivateDirectory(this.path);
    makePrivate(this.path);
    this.#lock = await lockDirectory(this.path);
  }

  /** A directory in it, made if it is missing. @throws the error of the file system */
  async folder(name: string): Promise<string> {
    const path = join(this.path, name);
    await makePrivateDirectory(path);
    return path;
  }

  /**
   * After a failure: recreates a removed directory, and locks it again.
   *
   * @throws DirectoryTaken, the error of the file system
   */
  async restore(): Promise<void> {
    const turn = this.#restoring.then(async () => {
      const isThere = await stat(join(this.path, LOCK_FILE)).then(
        () => true,
        () => false,
      );
      if (isThere && this.#lock !== null) return;
      this.close();
      await this.open();
    });
    this.#restoring = turn.catch(() => undefined);
    await turn;
  }

  close(): void {
    this.#lock?.release();
    this.#lock = null;
  }
}

/** The directory of an exporter's queues. Ids have no character that could lead out of `directory`, once `/` is written otherwise. */
export function placeOf(directory: string, exporter: string): string {
  return resolve(directory, encodeURIComponent(exporter));
}
