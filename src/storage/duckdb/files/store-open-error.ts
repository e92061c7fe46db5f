import { itemAt } from '../../../signal/checked.js';
import { damageIn } from './damage.js';

/** The store cannot be opened. The message names the problem, the file and the remedy. */
export class StoreOpenError extends Error {
  override readonly name = 'StoreOpenError';
}

/** Adds the remedy to DuckDB's error for a file that cannot be opened; an error that has a remedy is returned unchanged. */
export function openError(path: string, cause: unknown): StoreOpenError {
  if (cause instanceof StoreOpenError) return cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  const owner = /\(PID (\d+)\)/.exec(text)?.[1];
  if (isLocked(cause)) {
    const who = owner === undefined ? 'another process' : `process ${owner}`;
    return new StoreOpenError(
      `The store ${path} is in use by ${who}. Stop that process, or set another extensions.duckdb.path.`,
      { cause },
    );
  }
  const damage = damageIn(cause);
  if (damage !== null) {
    return new StoreOpenError(
      `The file ${path} is damaged: ${firstLine(damage.message)}. ${remedyOf(path)} To list what is damaged, run jackdaw store check.`,
      { cause },
    );
  }
  if (/not a valid DuckDB database file|Serialization Error|older version|newer version/.test(text)) {
    return new StoreOpenError(
      `The file ${path} cannot be read as a store: ${firstLine(text)}. ${remedyOf(path)}`,
      { cause },
    );
  }
  return new StoreOpenError(`The store ${path} cannot be opened: ${firstLine(text)}.`, { cause });
}

/** Whether another process has the file open. */
export function isLocked(cause: unknown): boolean {
  return cause instanceof Error && cause.message.includes('Could not set lock');
}

function remedyOf(path: string): string {
  return /\.(cold|hot-\d+)\.duckdb$/.test(path)
    ? 'Restore it from a backup, or move it away and start with jackdaw run --accept-loss to continue without its telemetry.'
    : 'Restore it from a backup, or move all files of this store away to start with an empty store.';
}

function firstLine(text: string): string {
  return itemAt(text.split('\n', 1), 0).replace(/\.$/, '');
}
