import { wordAt } from '../../../signal/checked.js';
import { formatUuid } from '../../../worker/uuid-words.js';
import type { Connection, FixedChunk } from '../files/connection.js';
import { int64At } from '../files/plain-rows.js';
import { extremesOf } from '../segments/extremes.js';
import { FEW_POSITIONS } from './positions.js';

/** The sort key, the position and the size of a record. */
export interface LogKey {
  readonly id: string;
  /** In microseconds. */
  readonly timestamp: number;
  readonly bytes: number;
  /** Its number in the cold file; 0 if it was found in a hot segment. */
  readonly log_no: number;
}

/** The columns of a key, for {@link keyAt}. */
export const KEY_COLUMNS = 'id, epoch_us(timestamp) AS time, bytes, log_no';
/** How many columns these are. */
export const KEY_WIDTH = 4;

/** The key in a row of a chunk whose first columns are {@link KEY_COLUMNS}. */
export function keyAt(chunk: FixedChunk, row: number): LogKey {
  return {
    id: formatUuid(chunk.words(0, 16), row * 4),
    timestamp: int64At(chunk.words(1, 8), row),
    bytes: wordAt(chunk.words(2, 4), row),
    log_no: int64At(chunk.words(3, 8), row),
  };
}

export function newestFirst(
  a: Pick<LogKey, 'timestamp' | 'id'>,
  b: Pick<LogKey, 'timestamp' | 'id'>,
): number {
  if (a.timestamp !== b.timestamp) return a.timestamp > b.timestamp ? -1 : 1;
  if (a.id === b.id) return 0;
  return a.id > b.id ? -1 : 1;
}

/** The keys of records in the cold file by their numbers, {@link FEW_POSITIONS} of them in one statement. */
export async function keysByNumber(
  connection: Connection,
  numbers: readonly number[],
): Promise<ReadonlyMap<number, LogKey>> {
  const keys = new Map<number, LogKey>();
  const inOrder = [...numbers].sort((a, b) => a - b);
  for (let i = 0; i < inOrder.length; i += FEW_POSITIONS) {
    const few = inOrder.slice(i, i + FEW_POSITIONS);
    const { least, most } = extremesOf(few);
    const sql = `SELECT ${KEY_COLUMNS} FROM cold.main.logs WHERE log_no BETWEEN ${least} AND ${most} AND log_no IN (${few.join(', ')})`;
    for await (const chunk of connection.wholeChunks(sql)) {
      for (let row = 0; row < chunk.rows; row++) {
        const key = keyAt(chunk, row);
        keys.set(key.log_no, key);
      }
    }
  }
  return keys;
}
