import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../component/telemetry.js';
import type { Table } from '../table.js';
import { COLD_TABLES, LOGS, SEGMENT_TABLES } from '../tables.js';
import { checkpoint } from './checkpoint.js';
import { noteMove } from './cold-sums.js';
import { isInvalidated, type Connection } from './database.js';
import { moveLogs } from './logs/move-logs.js';
import { foldSums, moveSums } from './move-sums.js';
import { slicesByKey, slicesByRow } from './move-slices.js';
import { isVersionOf } from './relation.js';
import type { Segment, Segments } from './segments.js';

/** Rows of a slice, and the pause after it: measured in `checkpoint.md` §3 as what disturbs acknowledgements least. */
const SLICE_ROWS = 8192;
/** A payload row holds a few spans' texts. */
const PAYLOAD_SLICE_ROWS = 3072;
const PAUSE_MS = 20;
/** With this many sealed segments waiting the mover stops pausing: memory is worth more than smoothness then. */
const HURRY_AT = 3;
const RETRY_MS = 5000;
/** After so many moves the parts of sums in the cold file are put together. */
const FOLD_EVERY = 8;

/** Takes sealed segments into the cold file, one after the other, in small slices of one transaction each. */
export class Mover {
  readonly #connection: Connection;
  readonly #segments: Segments;
  readonly #logger: Logger;
  #running: Promise<void> | null = null;
  #moves = 0;
  readonly #stop = new AbortController();
  #exclusive: Promise<void> = Promise.resolve();

  /** @param connection the mover's own */
  constructor(connection: Connection, segments: Segments, logger: Logger) {
    this.#connection = connection;
    this.#segments = segments;
    this.#logger = logger;
  }

  /** Says that there may be something to move. */
  wake(): void {
    if (this.#next() !== undefined) this.#running ??= this.#run();
  }

  /** Runs work on the cold file between two moves. */
  async between<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const turn = this.#exclusive.then(() => {
      // Its connection is closed soon: a statement on it would end the process.
      this.#stop.signal.throwIfAborted();
      return work(this.#connection);
    });
    this.#exclusive = turn.then(
      () => undefined,
      () => undefined,
    );
    return await turn;
  }

  /** Waits until nothing is left to move. For tests and measurements. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Gives up the move under way: nothing of it is visible, the next start begins it anew. */
  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#exclusive;
  }

  async #run(): Promise<void> {
    for (let segment = this.#next(); segment !== undefined; segment = this.#next()) {
      try {
        const toMove = segment;
        await this.between(() => this.#move(toMove));
      } catch (error) {
        if (this.#stop.signal.aborted) break;
        this.#logger.error(
          { err: error, segment: segment.number },
          'A segment could not be moved; trying again.',
        );
        if (isInvalidated(error)) await this.#attachColdAnew();
        await this.#pause(RETRY_MS);
      }
    }
    // In the step in which nothing more was found: whoever wakes it next finds it at rest.
    this.#running = null;
  }

  #next(): Segment | undefined {
    return this.#stop.signal.aborted ? undefined : this.#segments.sealed[0];
  }

  async #move(segment: Segment): Promise<void> {
    await this.#connection.run('BEGIN');
    try {
      await noteMove(this.#connection, segment);
      for (const table of SEGMENT_TABLES) {
        if (table === LOGS) await moveLogs(this.#connection, segment, SLICE_ROWS, () => this.#breathe());
        else if (table.sumsOf !== undefined) await moveSums(this.#connection, segment, table);
        else await this.#moveTable(segment, table);
      }
      // In place of the note of the move before: what is kept for ever would be read at every start.
      await this.#connection.run('DELETE FROM cold.main.moved');
      await this.#connection.run(
        `INSERT INTO cold.main.moved VALUES (${segment.number}, ${segment.lastSeq})`,
      );
      await this.#segments.readsBefore(segment.lastSeq);
      await this.#connection.run('COMMIT');
    } catch (error) {
      await this.#connection.run('ROLLBACK').catch(() => undefined);
      throw error;
    }
    this.#segments.retire(segment);
    if (++this.#moves % FOLD_EVERY === 0) await this.#fold();
    await this.#checkpoint();
  }

  /** A failure lets sums lie in more rows until the next time, no more. */
  async #fold(): Promise<void> {
    try {
      for (const table of [...SEGMENT_TABLES, ...COLD_TABLES]) {
        if (table.sumsOf === undefined) continue;
        await foldSums(this.#connection, table, this.#segments.oldestBound);
      }
    } catch (error) {
      this.#logger.warn({ err: error }, 'Sums in the cold file could not be put together.');
    }
  }

  /** Takes what the cold file's log holds into the file. A failure lets the log grow until the next time, no more. */
  async checkpoint(): Promise<void> {
    await this.between(() => this.#checkpoint());
  }

  async #checkpoint(): Promise<void> {
    try {
      await checkpoint(this.#connection, 'cold');
    } catch (error) {
      this.#logger.warn(
        { err: error },
        'The cold file could not be checkpointed; the next move tries again.',
      );
      if (isInvalidated(error)) await this.#attachColdAnew();
    }
  }

  /** After a checkpoint that failed halfway, for want of room, DuckDB refuses even to read the file as it is attached. */
  async #attachColdAnew(): Promise<void> {
    await this.#segments.withoutReads(async () => {
      while (!this.#stop.signal.aborted) {
        try {
          await this.#segments.attachColdAnew();
          return;
        } catch (error) {
          this.#logger.error({ err: error }, 'The cold file could not be attached again; trying again.');
          await this.#pause(RETRY_MS);
        }
      }
    });
  }

  async #moveTable(segment: Segment, table: Table): Promise<void> {
    const from = `${segment.catalog}.main.${table.name}`;
    const keys = table.versionOf ?? [];
    const replaces = keys.length > 0 && (segment.replacing.get(table.name) ?? 0) > 0;
    // Of a row with several versions only the newest stays.
    const newer = `SELECT tenant, ${keys.join(', ')}, seq FROM ${from} WHERE replaces`;
    if (replaces) {
      await this.#connection.run(
        `DELETE FROM cold.main.${table.name} c USING (${newer}) n WHERE ${isVersionOf(table, 'c', 'n')}`,
      );
    }
    const condition = replaces
      ? `AND NOT EXISTS (SELECT 1 FROM (${newer}) n WHERE ${isVersionOf(table, 'n', 'o')} AND n.seq > o.seq)`
      : '';
    const { sortedBy } = table;
    const order = sortedBy === undefined ? '' : ` ORDER BY o.${sortedBy.key}, o.${sortedBy.then}`;
    const slices =
      sortedBy === undefined
        ? await slicesByRow(
            this.#connection,
            from,
            table.name === 'payloads' ? PAYLOAD_SLICE_ROWS : SLICE_ROWS,
          )
        : await slicesByKey(this.#connection, from, sortedBy.key, SLICE_ROWS);
    for (const slice of slices) {
      await this.#connection.run(
        `INSERT INTO cold.main.${table.name} SELECT o.* FROM ${from} o WHERE ${slice} ${condition}${order}`,
      );
      await this.#breathe();
    }
  }

  /** Between two slices. @throws when the move is to be given up */
  async #breathe(): Promise<void> {
    if (this.#segments.sealed.length < HURRY_AT) await this.#pause(PAUSE_MS);
    this.#stop.signal.throwIfAborted();
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }
}
