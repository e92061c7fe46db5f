import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PRIVATE_FILE } from '../../../config/private-path.js';
import { syncDirectory } from '../../../config/sync-directory.js';

/**
 * A copy of a DuckDB file's metadata blocks, kept next to the file during a checkpoint: see `checkpoint.ts`. It holds the number
 * of blocks and their size, the head of the file, the positions of the blocks, and the blocks.
 */

/** The part before the blocks: the head of the file, and two headers, of which the newer one is current. */
const HEAD_BYTES = 3 * 4096;
const PREAMBLE_BYTES = 16;
const PLACE_BYTES = 8;

/**
 * Files that stay open for reading as long as their database is. POSIX ends all locks that a process has of a file as soon as it
 * closes any descriptor of it (fcntl(2)), and DuckDB's lock is what keeps other processes away.
 */
export class OpenFiles {
  readonly #descriptors = new Map<string, number>();

  at(path: string): number {
    let descriptor = this.#descriptors.get(path);
    if (descriptor === undefined) this.#descriptors.set(path, (descriptor = openSync(path, 'r')));
    return descriptor;
  }

  /** To be called when the database is closed. */
  close(): void {
    for (const descriptor of this.#descriptors.values()) closeSync(descriptor);
    this.#descriptors.clear();
  }
}

/**
 * Copies the current contents of blocks into a file next to the database file. Blocks beyond the end of the file are new and need
 * no copy.
 *
 * @param descriptor of the file: see {@link OpenFiles}
 * @param blocks their numbers
 * @param bytes of each
 */
export async function keepMetadata(
  descriptor: number,
  path: string,
  blocks: readonly number[],
  bytes: number,
): Promise<void> {
  const { size } = fstatSync(descriptor);
  const places = blocks.map((block) => HEAD_BYTES + block * bytes).filter((place) => place + bytes <= size);
  const made = `${copyOf(path)}.new`;
  const copy = await open(made, 'w', PRIVATE_FILE);
  try {
    const numbers = Buffer.alloc(PREAMBLE_BYTES);
    numbers.writeDoubleLE(places.length, 0);
    numbers.writeDoubleLE(bytes, 8);
    const list = Buffer.alloc(places.length * PLACE_BYTES);
    places.forEach((place, i) => list.writeDoubleLE(place, i * PLACE_BYTES));
    await copy.writeFile(Buffer.concat([numbers, read(descriptor, 0, HEAD_BYTES), list]));
    for (const place of places) await copy.writeFile(read(descriptor, place, bytes));
    await copy.sync();
  } finally {
    await copy.close();
  }
  // A copy is whole once it has its name.
  await rename(made, copyOf(path));
  await syncDirectory(dirname(path));
}

export async function forgetMetadataCopy(path: string): Promise<void> {
  await rm(copyOf(path), { force: true });
}

/** Whether a checkpoint was under way when the file was last used. */
export function hasMetadataCopy(path: string): boolean {
  return existsSync(copyOf(path));
}

/** Restores the blocks that an unfinished checkpoint has overwritten. Call only while the file is not open. */
export async function restoreMetadata(path: string): Promise<void> {
  if (!hasMetadataCopy(path)) return;
  const copy = await open(copyOf(path), 'r');
  try {
    const file = await open(path, 'r+');
    try {
      // Writing the header is the last step of a checkpoint: a changed header leads to the new blocks.
      const head = read(copy.fd, PREAMBLE_BYTES, HEAD_BYTES);
      if (head.equals(read(file.fd, 0, HEAD_BYTES))) await putBack(copy, file);
      await forgetMetadataCopy(path);
    } finally {
      await file.close();
    }
  } finally {
    await copy.close();
  }
}

function copyOf(path: string): string {
  return `${path}.metadata`;
}

async function putBack(copy: FileHandle, file: FileHandle): Promise<void> {
  const numbers = read(copy.fd, 0, PREAMBLE_BYTES);
  const [count, bytes] = [numbers.readDoubleLE(0), numbers.readDoubleLE(8)];
  const listAt = PREAMBLE_BYTES + HEAD_BYTES;
  const list = read(copy.fd, listAt, count * PLACE_BYTES);
  for (let i = 0; i < count; i++) {
    const block = read(copy.fd, listAt + list.length + i * bytes, bytes);
    await writeAll(file, block, list.readDoubleLE(i * PLACE_BYTES));
  }
  await file.sync();
}

async function writeAll(file: FileHandle, buffer: Buffer, position: number): Promise<void> {
  for (let done = 0; done < buffer.length;) {
    const { bytesWritten } = await file.write(buffer, done, buffer.length - done, position + done);
    done += bytesWritten;
  }
}

/** Reads synchronously: the data is most likely in the page cache, so the thread pool would take longer. */
function read(descriptor: number, position: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  for (let done = 0; done < length;) {
    const bytesRead = readSync(descriptor, buffer, done, length - done, position + done);
    if (bytesRead === 0) throw new Error(`a file ends ${length - done} bytes too early`);
    done += bytesRead;
  }
  return buffer;
}
