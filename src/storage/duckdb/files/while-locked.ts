import { link, rm } from 'node:fs/promises';
import { isLocked } from './store-open-error.js';

/** What locks a file. */
export interface Locking {
  /** Attaches a file for reading, which locks it. */
  readonly attach: (path: string) => Promise<void>;
  readonly detach: () => Promise<void>;
}

/**
 * Works on the files of a database while no other process can open it. It is attached under a second name of the same file,
 * beside which there is no log: DuckDB would read the log, which may be what has to be mended. A file that cannot be attached, as
 * a crash may have left it, cannot be open in another process either.
 *
 * @param path of a file that is not attached
 * @throws where another process has it, and whatever the work throws
 */
export async function whileLocked(
  path: string,
  { attach, detach }: Locking,
  work: () => Promise<void>,
): Promise<void> {
  const other = `${path}.probe`;
  await rm(other, { force: true });
  // Some file systems have no hard links, and a full disk has no room for one.
  const name = await link(path, other).then(
    () => other,
    () => path,
  );
  try {
    const isAttached = await attach(name).then(
      () => true,
      (error: unknown) => {
        if (isLocked(error)) throw error;
        return false;
      },
    );
    try {
      await work();
    } finally {
      if (isAttached) await detach();
    }
  } finally {
    await rm(other, { force: true });
  }
}
