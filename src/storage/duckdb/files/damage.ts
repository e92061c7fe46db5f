import type { Clock, Logger } from '../../../component/telemetry.js';
import { MS_PER_MINUTE } from '../../../signal/time-units.js';
import { SparseLog } from '../../../telemetry/sparse-log.js';
import type { OpenFiles } from './connection.js';
import { checksumAt } from './duckdb-1-5-format.js';
import type { SegmentFiles } from './segment-files.js';
import type { HealthIssues } from './health-issues.js';

/** How often the log repeats that a file is damaged. */
const SAY_MS = 10 * MS_PER_MINUTE;

const DAMAGE =
  /Corrupt(ed)? (database file|\w+ segment)|Could not read (enough bytes )?from file "[^"]*\.(duckdb|db)"/;
const CHECKSUMS = /stored checksum (\d+) in block at location (\d+)/;
const NAMED_FILE = /from file "([^"]+)"/;

/** The error, or its cause, that says that a block has other bytes than were written, or cannot be read; else null. */
export function damageIn(error: unknown): Error | null {
  if (!(error instanceof Error)) return null;
  return DAMAGE.test(error.message) ? error : damageIn(error.cause);
}

/** Whether the statement itself read the damaged block. After a checkpoint read it, the file is unusable for a moment. */
export function isUnreadable(error: unknown): boolean {
  const damage = damageIn(error);
  return damage !== null && !damage.message.includes('has been invalidated');
}

interface Parts {
  readonly names: SegmentFiles;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly healthIssues: HealthIssues;
}

/** Reports damaged blocks: in `/readyz` until the next start, and in the log every ten minutes for each file. */
export class Damage {
  readonly #parts: Parts;
  readonly #logs = new Map<string, SparseLog>();
  #statements = 0;
  #file: string | null = null;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** The file of the newest damage. */
  get file(): string | null {
    return this.#file;
  }

  /** Statements that met a damaged block, since the start. */
  get statements(): number {
    return this.#statements;
  }

  /** Takes the error of a statement. @param files open files of the database */
  notice(error: unknown, files: OpenFiles): void {
    const damage = damageIn(error);
    if (damage === null) return;
    const { names, logger, clock, healthIssues } = this.#parts;
    this.#statements++;
    const file = fileOf(damage, names, files);
    this.#file = file;
    const log = this.#logs.get(file) ?? new SparseLog(logger, clock, SAY_MS);
    this.#logs.set(file, log);
    const message = `${file} has damaged blocks: requests that need them fail, other data is served. Stop the daemon and run jackdaw store check to list the damage; then restore a backup, or copy the rest to a new store with jackdaw export --skip-damaged.`;
    log.warn(0, { err: error, file }, message);
    healthIssues.set(`damage of ${file}`, message);
  }
}

/**
 * DuckDB does not name the file with a wrong checksum, so the files are searched for the checksum. Hot segments are read from
 * their logs.
 */
function fileOf(error: Error, { main, cold }: SegmentFiles, files: OpenFiles): string {
  const named = NAMED_FILE.exec(error.message)?.[1];
  if (named !== undefined) return named;
  const [, checksum, location] = CHECKSUMS.exec(error.message) ?? [];
  if (checksum === undefined || location === undefined) return cold;
  // Only these two stay open: closing another descriptor of a file would end its lock.
  return checksumAt(files.at(main), Number(location)) === BigInt(checksum) ? main : cold;
}
