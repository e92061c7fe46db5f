import type { Micros } from '../../../signal/time.js';
import { SharedCache } from '../../shared/shared-cache.js';
import type { Connection } from '../files/connection.js';
import { isInRun, runsOf } from './block-runs.js';
import type { LogBlock } from './log-blocks.js';

/** Maximum number of cached counts for one block, for one user and in total, at some 50 bytes each. */
const MOST_OF_BLOCK = 2000;
const MOST_OF_USER = 100_000;
const MOST = 400_000;
/** Blocks that are counted in one statement. */
const AT_ONCE = 32;

/** The number of records of a severity and a service in a bucket of time. */
export interface LogCount {
  readonly bucket: Micros;
  /** A position in `SEVERITIES`. */
  readonly severity: number;
  readonly service: string;
  readonly count: number;
}

/** The user whose blocks are counted, and the bucketing. */
export interface CountedBlocks {
  readonly tenant: number;
  readonly interval: Micros;
  /** The start of a record's bucket in SQL. */
  readonly bucket: string;
}

/** Null: too many counts for this block. */
type Kept = readonly LogCount[] | null;

/**
 * LRU cache of the counts of whole blocks; the key of a block changes with its records. Target: counts of log records in 100 ms
 * over ten million. A million take 54 ms of processor time without it, 8 with it.
 */
export class BlockCounts {
  /** By {@link nameOf}. */
  readonly #kept: SharedCache<Kept>;

  constructor(mostSize = MOST, mostSizeOfUser = MOST_OF_USER) {
    this.#kept = new SharedCache({ mostSize, mostSizeOfUser });
  }

  /** The counts of a block; null if there are too many to cache, undefined if they are not cached. */
  get({ tenant, interval }: CountedBlocks, block: LogBlock): Kept | undefined {
    return this.#kept.get(tenant, nameOf(block, interval));
  }

  /** Counts whole blocks. @returns by the number of the block; those with too many counts are left out */
  async read(
    connection: Connection,
    of: CountedBlocks,
    blocks: readonly LogBlock[],
  ): Promise<ReadonlyMap<number, readonly LogCount[]>> {
    const found = new Map<number, readonly LogCount[]>();
    for (let next = 0; next < blocks.length; next += AT_ONCE) {
      const part = blocks.slice(next, next + AT_ONCE);
      const counts = await countsOf(connection, of, part);
      for (const block of part) {
        const its = counts.get(block.block);
        if (its !== undefined) found.set(block.block, its);
        this.#kept.put(of.tenant, nameOf(block, of.interval), its ?? null, 1 + (its?.length ?? 0));
      }
    }
    return found;
  }
}

async function countsOf(
  connection: Connection,
  { tenant, bucket }: CountedBlocks,
  blocks: readonly LogBlock[],
): Promise<ReadonlyMap<number, readonly LogCount[]>> {
  const parts = runsOf(blocks.map(({ block }) => block).sort((a, b) => a - b)).map(
    (run) =>
      `SELECT log_no, timestamp, severity, service_name FROM cold.main.logs WHERE ${isInRun(run)} AND tenant = ${tenant}`,
  );
  const rows = await connection.rows(
    `SELECT * FROM (SELECT log_no >> 16 AS block, ${bucket} AS bucket, severity, service_name, count(*) AS count
       FROM (${parts.join(' UNION ALL ')}) GROUP BY ALL)
     QUALIFY count(*) OVER (PARTITION BY block) <= ${MOST_OF_BLOCK}`,
  );
  const found = new Map<number, LogCount[]>();
  const names = new Map<string, string>();
  for (const row of rows) {
    const service = String(row.service_name);
    // One text for all counts of a service.
    const name = names.get(service) ?? service;
    names.set(name, name);
    const list = found.get(Number(row.block)) ?? [];
    found.set(Number(row.block), list);
    list.push({
      bucket: Number(row.bucket),
      severity: Number(row.severity),
      service: name,
      count: Number(row.count),
    });
  }
  return found;
}

function nameOf({ block, seq, firstPosition, records, oldest, newest }: LogBlock, interval: Micros): string {
  return [interval, block, seq, firstPosition, records, oldest, newest].join(' ');
}
