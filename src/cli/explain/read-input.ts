import { open } from 'node:fs/promises';
import { MOST_BYTES, UnreadableInput } from './request.js';

/**
 * Reads a whole file.
 *
 * @throws UnreadableInput if it cannot be read, or is too large
 */
export async function readFile(path: string): Promise<Uint8Array> {
  try {
    const file = await open(path);
    try {
      return await readPieces(file.createReadStream({ autoClose: false }));
    } finally {
      await file.close();
    }
  } catch (error) {
    if (error instanceof UnreadableInput) throw error;
    throw new UnreadableInput(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** @throws UnreadableInput if the input is too large */
export async function readPieces(pieces: AsyncIterable<Uint8Array | string>): Promise<Uint8Array> {
  const read: Uint8Array[] = [];
  let length = 0;
  for await (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    length += bytes.length;
    if (length > MOST_BYTES) throw new UnreadableInput(`is larger than ${MOST_BYTES} bytes: split it`);
    read.push(bytes);
  }
  return Buffer.concat(read);
}
