import type { Connection } from './connection.js';

/** Blocks of files that an export may add to DuckDB's cache. */
const CACHED_BYTES = 32 * 1024 * 1024;

/**
 * Keeps the memory of a long read small: drops blocks that it brought into DuckDB's cache, and returns freed memory to the system.
 * Setting `memory_limit` is the only statement of DuckDB 1.5.5 that does either.
 */
export class ReturnedMemory {
  readonly #connection: Connection;
  readonly #limit: string;
  readonly #mostCached: number;

  private constructor(connection: Connection, limit: string, mostCached: number) {
    this.#connection = connection;
    this.#limit = limit;
    this.#mostCached = mostCached;
  }

  /** @param limit `memory_limit` as configured */
  static async begin(connection: Connection, limit: string): Promise<ReturnedMemory> {
    const { cached } = await usage(connection);
    return new ReturnedMemory(connection, limit, cached + CACHED_BYTES);
  }

  /** To be called between two statements. */
  async trim(): Promise<void> {
    const { cached, used } = await usage(this.#connection);
    const usual = `SET GLOBAL memory_limit = '${this.#limit}'`;
    if (cached <= this.#mostCached) {
      await this.#connection.run(usual);
      return;
    }
    // The lower limit holds for milliseconds. Other statements may evict blocks meanwhile, so they still get CACHED_BYTES.
    const lower = `SET GLOBAL memory_limit = '${used - cached + this.#mostCached}B'`;
    // DuckDB refuses a limit below the memory in use, and keeps the usual limit.
    await this.#connection.run(lower).catch(() => undefined);
    await this.#connection.run(usual);
  }
}

async function usage(connection: Connection): Promise<{ readonly cached: number; readonly used: number }> {
  const [row] = await connection.rows(
    `SELECT coalesce(sum(memory_usage_bytes) FILTER (WHERE tag = 'BASE_TABLE'), 0)::BIGINT AS cached, sum(memory_usage_bytes)::BIGINT AS used FROM duckdb_memory()`,
  );
  return { cached: Number(row?.['cached']), used: Number(row?.['used']) };
}
