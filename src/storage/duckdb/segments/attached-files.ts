import { dirname } from 'node:path';
import type { Logger } from '../../../component/telemetry.js';
import { syncDirectory } from '../../../config/sync-directory.js';
import type { Table } from '../../schema/table.js';
import { SEGMENT_TABLES, POINTS, UNUSABLE_ROWS } from '../../schema/tables.js';
import { attachWithLog, CUT_MESSAGE } from '../files/attach-with-log.js';
import type { Connection } from '../files/connection.js';
import { literal } from '../files/database.js';
import { isNoRoom } from '../files/disk-room.js';
import type { ListedFiles } from '../files/listed-files.js';
import { restoreMetadata } from '../files/metadata-copy.js';
import { migrate, schemaVersion, SEGMENT_SCHEMA } from '../files/migrations.js';
import { completeAgentSpans } from './agent-spans.js';
import { completeCallSums } from './call-sums.js';
import { bytesOf, hasBlocks, isTorn, removeFiles, type SegmentFiles } from '../files/segment-files.js';
import { COLD, newSegment, type Segment } from './segment.js';
import { isLocked, openError, StoreOpenError } from '../files/store-open-error.js';
import type { HealthIssues } from '../files/health-issues.js';
import { quarantineUnusable } from '../files/unusable-rows.js';
import { columnsOf } from '../../schema/table.js';
import { LOGS } from '../../schema/log-tables.js';
import { deriveSumsAnew } from './cold-sums.js';
import type { CheckedFile } from '../files/unusable-rows.js';

/** Row groups of 8192: then a slice of the compactor is written at once, and look-ups by commit read little. */
const ATTACH_OPTIONS = "ROW_GROUP_SIZE 8192, STORAGE_VERSION 'v1.2.0'";
/** By how many bytes the logs of two new segments may differ. */
const LOG_TOLERANCE = 256;

/** The cold file and the hot segments as files: attaches them, makes new ones, and takes over what an earlier process left. */
export class AttachedFiles {
  readonly #connection: Connection;
  readonly #files: SegmentFiles;
  readonly #logger: Logger;
  readonly #healthIssues: HealthIssues;
  readonly #listed: ListedFiles;
  /** The length of the log of a new segment. */
  #newLogBytes = 0;

  /** @param connection used for attaching only */
  constructor(
    { connection, listed }: { readonly connection: Connection; readonly listed: ListedFiles },
    files: SegmentFiles,
    logger: Logger,
    healthIssues: HealthIssues,
  ) {
    this.#connection = connection;
    this.#listed = listed;
    this.#files = files;
    this.#logger = logger;
    this.#healthIssues = healthIssues;
  }

  /** @throws StoreOpenError */
  async attachCold(): Promise<void> {
    await this.#attach(COLD, this.#files.cold);
    await migrate(this.#connection, COLD, SEGMENT_SCHEMA, this.#files.cold);
    await this.#setUnusableAside(COLD, this.#files.cold);
    await this.#listed.add(this.#files.cold);
    await completeCallSums(this.#connection);
    await completeAgentSpans(this.#connection);
  }

  /** After DuckDB has declared it unusable as it is attached. */
  async attachColdAnew(): Promise<void> {
    await this.#connection.run(`DETACH DATABASE IF EXISTS ${COLD}`);
    await this.#attach(COLD, this.#files.cold);
  }

  async create(number: number): Promise<Segment> {
    const segment = newSegment(number, this.#files.hot(number));
    try {
      await this.#attach(segment.catalog, segment.path);
      await migrate(this.#connection, segment.catalog, SEGMENT_SCHEMA, segment.path);
      await this.#syncNames();
      await this.#listed.add(segment.path);
    } catch (error) {
      // On a full disk this happens again and again.
      await this.#connection.run(`DETACH DATABASE IF EXISTS ${segment.catalog}`).catch(() => undefined);
      await removeFiles(segment.path);
      throw error;
    }
    this.#newLogBytes = Math.max(this.#newLogBytes, bytesOf(`${segment.path}.wal`));
    return segment;
  }

  /**
   * Takes over a segment that an earlier process left. To be called when a new one was made, because the length of its log tells
   * a segment that the earlier process was only about to make.
   *
   * @returns null where the earlier process never used it, and it was removed
   * @throws StoreOpenError, and other errors of the database, in which case it is not attached; {@link isDamage} tells what these
   *   mean
   */
  async takeOver(number: number, path: string): Promise<Segment | null> {
    if (isTorn(path)) {
      await this.removeFiles(path);
      return null;
    }
    const segment = newSegment(number, path);
    await this.#attach(segment.catalog, path);
    const logBytes = bytesOf(`${path}.wal`);
    try {
      // A file without a schema was being made when the process ended: there is nothing in it.
      if ((await schemaVersion(this.#connection, segment.catalog)) !== null) {
        await migrate(this.#connection, segment.catalog, SEGMENT_SCHEMA, path);
        await this.#setUnusableAside(segment.catalog, path);
        for (const table of SEGMENT_TABLES) await this.#measure(segment, table);
        // Our rows lie in the log, whose checksums were compared when it was replayed. Rows in blocks were put there by some
        // other tool.
        if (hasBlocks(path)) await this.readAll(segment);
        await this.#listed.add(path);
        return segment;
      }
      if (logBytes > this.#newLogBytes + LOG_TOLERANCE) {
        throw new Error(`the log of ${path} is ${logBytes} bytes long, and nothing in it can be read`);
      }
    } catch (error) {
      await this.#connection.run(`DETACH ${segment.catalog}`);
      throw error;
    }
    await this.remove(segment);
    return null;
  }

  /** DuckDB syncs files, but not their directory. */
  async #syncNames(): Promise<void> {
    await syncDirectory(dirname(this.#files.main));
  }

  /** Reads every value of a segment. @throws where one cannot be read */
  async readAll({ catalog }: Segment): Promise<void> {
    for (const { name } of SEGMENT_TABLES) {
      await this.#connection.run(`SELECT bit_xor(hash(t)) FROM ${catalog}.main.${name} t`);
    }
  }

  /** Detaches a segment that nobody reads. Its file stays. */
  async detach({ catalog }: Segment): Promise<void> {
    await this.#connection.run(`DETACH ${catalog}`);
  }

  /**
   * Detaches a segment that nobody reads, and removes its file. Its rows may have gone into a log of the cold file that is new.
   */
  async remove(segment: Segment): Promise<void> {
    await this.detach(segment);
    await this.#syncNames();
    await this.removeFiles(segment.path);
  }

  /** Removes the files of a segment that is not attached. On a full disk they stay, and the next start removes them. */
  async removeFiles(path: string): Promise<void> {
    try {
      await this.#listed.remove(path);
    } catch (error) {
      if (isNoRoom(error)) return;
      throw error;
    }
    await removeFiles(path);
  }

  async #setUnusableAside(catalog: string, path: string): Promise<void> {
    await quarantineUnusable(this.#connection, telemetryFile(this.#connection, catalog, path), {
      logger: this.#logger,
      healthIssues: this.#healthIssues,
    });
  }

  async #measure(segment: Segment, table: Table): Promise<void> {
    const replacing = table.versionOf === undefined ? '0' : 'count(*) FILTER (WHERE replaces)';
    const [row] = await this.#connection.rows(
      `SELECT count(*) AS rows, coalesce(max(seq), 0) AS last_seq, ${replacing} AS replacing FROM ${segment.catalog}.main.${table.name}`,
    );
    segment.rows += Number(row?.rows);
    segment.lastSeq = Math.max(segment.lastSeq, Number(row?.last_seq));
    segment.replacing.set(table.name, Number(row?.replacing));
  }

  async #attach(catalog: string, path: string): Promise<void> {
    try {
      // The main file is locked by now, and so this one belongs to us, too.
      await restoreMetadata(path);
      await attachWithLog(path, {
        attach: () => this.#connection.run(`ATTACH ${literal(path)} AS ${catalog} (${ATTACH_OPTIONS})`),
        cut: (file, bytes) => {
          this.#logger.warn({ file, bytes }, CUT_MESSAGE);
        },
      });
    } catch (error) {
      throw openError(path, error);
    }
  }
}

/**
 * Messages of errors that say that a file is sound although it cannot be opened: then the cure is another than doing without it.
 */
const SOUND = /permission denied|too many open files|out of memory|newer version|^FATAL/i;

/** Whether an error of opening or reading a segment says that its file is damaged. */
export function isDamage(error: unknown): boolean {
  const cause = error instanceof StoreOpenError ? error.cause : error;
  if (!(cause instanceof Error) || isLocked(cause) || isNoRoom(cause)) return false;
  return !SOUND.test(cause.message);
}

/** @param catalog the cold file, whose sums are derived anew where rows are quarantined, or a hot segment */
function telemetryFile(connection: Connection, catalog: string, path: string): CheckedFile {
  return {
    catalog,
    path,
    tables: SEGMENT_TABLES.filter((table) => table !== UNUSABLE_ROWS).map((table) => ({
      name: table.name,
      columns: columnsOf(table).map(({ name, sql }) =>
        // The value of a metric may be any number.
        table === POINTS ? { name, sql } : { name, sql, bounds: [0, Number.MAX_SAFE_INTEGER] as const },
      ),
    })),
    // Under no commit, since the number of their own may be what is wrong with them.
    kept: ({ name }) => ({ seq: '0', tenant: '0', table_name: `'${name}'`, content: 'r::VARCHAR' }),
    settle: async () => {
      // What they added to the sums is not what they hold now.
      if (catalog === COLD) await deriveSumsAnew(connection);
    },
    hint: (rows) => (rows.has(LOGS.name) ? ' They may make counts of log searches too high.' : ''),
  };
}
