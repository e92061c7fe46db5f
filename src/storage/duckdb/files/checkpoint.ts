import { existsSync, fstatSync, readSync } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PRIVATE_FILE } from '../../../config/private-path.js';
import { syncDirectory } from '../../../config/sync-directory.js';
import type { Connection } from './connection.js';
import { FILE_HEAD_BYTES, offsetOf, unknownVersion } from './duckdb-1-5-format.js';

/** The copy begins with the number of blocks and their size. The head of the file, the offsets and the blocks follow. */
const PREAMBLE_BYTES = 16;
const OFFSET_BYTES = 8;

/**
 * Writes the contents of a file's log into the file, so that a process killed meanwhile leaves a file that can be opened.
 *
 * DuckDB 1.5.5 rewrites blocks with metadata in place, while the current header still refers to their old contents. Linux ends a
 * large write between two pages if its process is killed; half a block has no valid checksum, and DuckDB refuses the file. So a
 * copy of these blocks is next to the file during a checkpoint, and {@link restoreMetadata} puts them back at the next start. With
 * another version of DuckDB no copy is made, because its blocks may be elsewhere.
 *
 * @param connection is in no transaction
 * @param catalog of an attached file that nothing else checkpoints
 * @throws whatever the checkpoint or the copying throws; then there was no checkpoint. The copy stays until the next one
 */
export async function checkpoint(connection: Connection, catalog: string): Promise<void> {
  const [database] = await connection.rows(
    'SELECT path, block_size FROM duckdb_databases() JOIN pragma_database_size() USING (database_name) WHERE database_name = $1',
    [catalog],
  );
  if (typeof database?.path !== 'string') throw new Error(`${catalog} is no attached file`);
  const { path } = database;
  if (unknownVersion() === null) {
    const rows = await connection.rows('SELECT block_id FROM pragma_metadata_info($1)', [catalog]);
    const bytes = Number(database.block_size);
    try {
      await copyBlocks(
        connection.files.at(path),
        path,
        rows.map(({ block_id }) => offsetOf(Number(block_id), bytes)),
        bytes,
      );
    } catch (error) {
      connection.failed(error);
      throw error;
    }
  }
  await connection.run(`CHECKPOINT ${catalog}`);
  await rm(copyOf(path), { force: true });
}

/** Whether a checkpoint was running when the file was last used. */
export function hasMetadataCopy(path: string): boolean {
  return existsSync(copyOf(path));
}

/**
 * Restores the blocks that an unfinished checkpoint has overwritten. Call only while the file is not open. The copy holds offsets
 * and the head of its file, so this is right with any version of DuckDB.
 */
export async function restoreMetadata(path: string): Promise<void> {
  if (!hasMetadataCopy(path)) return;
  const copy = await open(copyOf(path), 'r');
  try {
    const file = await open(path, 'r+');
    try {
      // Writing the header is the last step of a checkpoint: a changed header leads to the new blocks.
      const head = read(copy.fd, PREAMBLE_BYTES, FILE_HEAD_BYTES);
      if (head.equals(read(file.fd, 0, FILE_HEAD_BYTES))) await putBack(copy, file);
      await rm(copyOf(path), { force: true });
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

/**
 * Copies the current contents of blocks into a file next to the database file. Blocks beyond the end of the file are new and need
 * no copy.
 *
 * @param offsets of the blocks
 * @param bytes of each
 */
async function copyBlocks(
  descriptor: number,
  path: string,
  offsets: readonly number[],
  bytes: number,
): Promise<void> {
  const { size } = fstatSync(descriptor);
  const present = offsets.filter((offset) => offset + bytes <= size);
  const made = `${copyOf(path)}.new`;
  const copy = await open(made, 'w', PRIVATE_FILE);
  try {
    const list = Float64Array.of(present.length, bytes, ...present);
    const numbers = Buffer.from(list.buffer);
    await copy.writeFile(numbers.subarray(0, PREAMBLE_BYTES));
    await copy.writeFile(read(descriptor, 0, FILE_HEAD_BYTES));
    await copy.writeFile(numbers.subarray(PREAMBLE_BYTES));
    for (const offset of present) await copy.writeFile(read(descriptor, offset, bytes));
    await copy.sync();
  } finally {
    await copy.close();
  }
  // A copy is complete once it has its name.
  await rename(made, copyOf(path));
  await syncDirectory(dirname(path));
}

async function putBack(copy: FileHandle, file: FileHandle): Promise<void> {
  const preamble = read(copy.fd, 0, PREAMBLE_BYTES);
  const [count, bytes] = [preamble.readDoubleLE(0), preamble.readDoubleLE(8)];
  const listAt = PREAMBLE_BYTES + FILE_HEAD_BYTES;
  const list = read(copy.fd, listAt, count * OFFSET_BYTES);
  for (let i = 0; i < count; i++) {
    const block = read(copy.fd, listAt + list.length + i * bytes, bytes);
    await writeAll(file, block, list.readDoubleLE(i * OFFSET_BYTES));
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
