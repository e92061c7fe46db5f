import { dirname } from 'node:path';
import type { Logger } from '../../../component/telemetry.js';
import { syncDirectory } from '../../../config/sync-directory.js';
import type { Table } from '../../schema/table.js';
import { SEGMENT_TABLES, POINTS, UNUSABLE_ROWS } from '../../schema/tables.js';
import { attachWithLog } from '../files/log-damage.js';
import type { Connection } from '../files/connection.js';
import { literal } from '../files/database.js';
import { isNoRoom } from '../files/disk-room.js';
import type { ListedFiles } from '../files/listed-files.js';
import { restoreMetadata } from '../files/checkpoint.js';
import { migrate, schemaVersion, SEGMENT_SCHEMA, upgrade } from '../files/migrations.js';
import { completeAgentSpans } from './agent-spans.js';
import { completeCallSums } from './call-sums.js';
import { bytesOf, hasBlocks, isTorn, removeFiles, type SegmentFiles } from '../files/segment-files.js';
import { COLD, newSegment, type Segment } from './segment.js';
import { isLocked, openError, StoreOpenError } from '../files/store-open-error.js';
import type { HealthIssues } from '../files/health-issues.js';
import { quarantineUnusable } from '../files/unusable-rows.js';
import { columnsOf } from '../../schema/table.js';
import { LOGS } from '../../schema/log-tables.js';
import { SCORES } from '../../schema/scores-table.js';
import { rederiveSums } from './cold-sums.js';
import type { CheckedFile } from '../files/unusable-rows.js';

/** Row groups of 8192 rows: a slice of the compactor fills one, and look-ups by commit read little. */
const ATTACH_OPTIONS = "ROW_GROUP_SIZE 8192, STORAGE_VERSION 'v1.2.0'";
/** Maximum difference in bytes between the logs of two new segments. */
const LOG_TOLERANCE = 256;

/** Attaches the cold file and the hot segments, creates new segments, and takes over those of an earlier process. */
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
    await this.#upgrade(COLD, this.#files.cold);
    await this.#quarantineUnusable(COLD, this.#files.cold);
    await this.#listed.add(this.#files.cold);
    await completeCallSums(this.#connection);
    await completeAgentSpans(this.#connection);
  }

  /** Reattaches the cold file after DuckDB invalidated it. */
  async reattachCold(): Promise<void> {
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
      // On a full disk this fails repeatedly, so clean up each time.
      await this.#connection.run(`DETACH DATABASE IF EXISTS ${segment.catalog}`).catch(() => undefined);
      await removeFiles(segment.path);
      throw error;
    }
    this.#newLogBytes = Math.max(this.#newLogBytes, bytesOf(`${segment.path}.wal`));
    return segment;
  }

  /**
   * Takes over a segment of an earlier process. Call after a new segment was created: its log length identifies a segment that the
   * earlier process created but never used.
   *
   * @returns null if the earlier process never used it and it was removed
   * @throws StoreOpenError, and other errors of the database; the segment is then not attached. {@link isDamage} classifies these
   *   errors
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
      // A file without a schema is empty: the process ended while creating it.
      if ((await schemaVersion(this.#connection, segment.catalog)) !== null) {
        await this.#upgrade(segment.catalog, path);
        await this.#quarantineUnusable(segment.catalog, path);
        for (const table of SEGMENT_TABLES) await this.#measure(segment, table);
        // Rows are in the log, and its replay compares checksums. Only other tools write rows into blocks.
        if (hasBlocks(path)) await this.readAll(segment);
        await this.#listed.add(path);
        return segment;
      }
      if (logBytes > this.#newLogBytes + LOG_TOLERANCE) {
        throw new Error(`the log of ${path} is ${logBytes} bytes long, and none of it can be read`);
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

  /** Reads every value of a segment. @throws if one cannot be read */
  async readAll({ catalog }: Segment): Promise<void> {
    for (const { name } of SEGMENT_TABLES) {
      await this.#connection.run(`SELECT bit_xor(hash(t)) FROM ${catalog}.main.${name} t`);
    }
  }

  /** Detaches a segment without readers. Its file stays. */
  async detach({ catalog }: Segment): Promise<void> {
    await this.#connection.run(`DETACH ${catalog}`);
  }

  /** Detaches a segment without readers and removes its file. Its rows may be in a newly created log of the cold file. */
  async remove(segment: Segment): Promise<void> {
    await this.detach(segment);
    await this.#syncNames();
    await this.removeFiles(segment.path);
  }

  /** Removes the files of a detached segment. If that fails, for example on a full disk, the next start removes them. */
  async removeFiles(path: string): Promise<void> {
    try {
      await this.#listed.remove(path);
    } catch (error) {
      if (isNoRoom(error)) return;
      throw error;
    }
    await removeFiles(path);
  }

  async #quarantineUnusable(catalog: string, path: string): Promise<void> {
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

  async #upgrade(catalog: string, path: string): Promise<void> {
    await upgrade({ connection: this.#connection, catalog, path }, SEGMENT_SCHEMA, this.#logger);
  }

  async #attach(catalog: string, path: string): Promise<void> {
    try {
      // The main file is locked by this process, so no other process uses this file.
      await restoreMetadata(path);
      await attachWithLog(path, {
        attach: () => this.#connection.run(`ATTACH ${literal(path)} AS ${catalog} (${ATTACH_OPTIONS})`),
        warn: (fields, message) => {
          this.#logger.warn(fields, message);
        },
      });
    } catch (error) {
      throw openError(path, error);
    }
  }
}

/** Messages of errors that have another cause than a damaged file. The file must then not be quarantined. */
const SOUND = /permission denied|too many open files|out of memory|newer version|^FATAL/i;

/** Whether an error from opening or reading a segment means that its file is damaged. */
export function isDamage(error: unknown): boolean {
  const cause = error instanceof StoreOpenError ? error.cause : error;
  if (!(cause instanceof Error) || isLocked(cause) || isNoRoom(cause)) return false;
  return !SOUND.test(cause.message);
}

/** @param catalog a hot segment, or the cold file, whose sums are rebuilt if rows are quarantined */
function telemetryFile(connection: Connection, catalog: string, path: string): CheckedFile {
  return {
    catalog,
    path,
    tables: SEGMENT_TABLES.filter((table) => table !== UNUSABLE_ROWS).map((table) => ({
      name: table.name,
      columns: columnsOf(table).map(({ name, sql }) => ({ name, sql, ...boundsIn(table) })),
    })),
    // Without commit and tenant, because these numbers may be the damaged ones.
    kept: ({ name }) => ({ seq: '0', tenant: '0', table_name: `'${name}'`, content: 'r::VARCHAR' }),
    settle: async () => {
      // The sums may no longer match the rows that are left.
      if (catalog === COLD) await rederiveSums(connection);
    },
    hint: (rows) => (rows.has(LOGS.name) ? ' They may make counts of log searches too high.' : ''),
  };
}

/** The value of a metric may be any number, that of a score any finite one. */
function boundsIn(table: Table): { readonly bounds?: readonly [number, number] } {
  if (table === POINTS) return {};
  return {
    bounds: table === SCORES ? [-Number.MAX_VALUE, Number.MAX_VALUE] : [0, Number.MAX_SAFE_INTEGER],
  };
}
