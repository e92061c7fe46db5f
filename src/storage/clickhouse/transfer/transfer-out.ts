import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { ConsumeError } from '../../../component/consume-error.js';
import { MICROS_PER_DAY, MICROS_PER_HOUR } from '../../../signal/time-units.js';
import type { Micros } from '../../../signal/time.js';
import { systemClock } from '../../../telemetry/system-clock.js';
import {
  type ControlTransfer,
  type ExportedRow,
  type ExportProgress,
  NO_PROGRESS,
  type TelemetryOut,
  type WrittenFile,
  type WrittenTables,
} from '../../contracts/transfer.js';
import { HeldLease } from '../../shared/held-lease.js';
import type { Leases, WriteIntentLog } from '../../contracts/coordination.js';
import { TableFiles } from '../../transfer/table-files.js';
import type { Connection } from '../client/connection.js';
import type { ClickHouseOptions } from '../clickhouse-options.js';
import { exportLogs, exportPoints, exportScores } from './exported-items.js';
import { exportRuns } from './exported-runs.js';
import { StoreSnapshot } from './store-snapshot.js';

/** Poll interval and timeout for running writes; the timeout exceeds the time to finish the writes of a dead process. */
const ASK_AGAIN_MS = 50;
const PATIENCE_MS = 60_000;

/** Lease of an export; after a killed export, the next one must wait for it. */
const LEASE_MS = 60_000;

/** Dependencies of an export from ClickHouse. */
export interface TransferOutParts {
  /** @throws ConsumeError if the store is not open */
  readonly open: () => {
    readonly connection: Connection;
    readonly control: ControlTransfer;
    readonly leases: Leases;
    readonly book: Pick<WriteIntentLog, 'openWrites'>;
    /** The identity of the store. */
    readonly store: string;
    readonly now: Micros;
  };
  readonly options: ClickHouseOptions;
  /** Finishes the writes of dead processes. */
  readonly finishLeft: () => Promise<void>;
}

/** A running export. */
interface Underway {
  readonly snapshot: StoreSnapshot;
  /** Batch names read before the snapshot, so the snapshot contains their items. */
  readonly batches: readonly ExportedRow[];
  /** Keeps other exports from removing the snapshot. */
  readonly lease: HeldLease;
  readonly firstHour: number | null;
  /** Number of spans, points and log records, including repeated spans. */
  total: number | null;
  files?: TableFiles;
  /** The work that reads the snapshot. */
  writing: Promise<unknown>;
}

/** `TelemetryOut` for ClickHouse: a consistent snapshot of the facts while other processes keep writing. */
export class TransferOut implements TelemetryOut {
  readonly #parts: TransferOutParts;
  readonly #closing = new AbortController();
  #underway: Underway | null = null;

  constructor(parts: TransferOutParts) {
    this.#parts = parts;
  }

  async begin(): Promise<boolean> {
    const { connection, control, leases, book, store, now } = this.#parts.open();
    const { options } = this.#parts;
    const hold = { leases, ms: LEASE_MS, clock: systemClock };
    const lease = await HeldLease.take(hold, `clickhouse/${store}/export`, randomUUID());
    if (lease === null) return false;
    try {
      const batches = await control.exportBase(store, 'batches');
      const snapshot = await StoreSnapshot.take(connection, options);
      const { traces: days } = options.retention;
      const firstHour =
        days === null ? null : ((Math.floor(now / MICROS_PER_DAY) - days) * MICROS_PER_DAY) / MICROS_PER_HOUR;
      this.#underway = {
        snapshot,
        batches,
        lease,
        firstHour,
        total: null,
        writing: Promise.resolve(),
      };
      this.#underway.total = await snapshot.rows();
      await this.#ended(await book.openWrites(store));
    } catch (error) {
      await this.end();
      await lease.release();
      throw error;
    }
    return true;
  }

  async write(directory: string, abort: AbortSignal): Promise<WrittenTables> {
    const underway = this.#begun();
    const writing = this.#write(
      underway,
      directory,
      AbortSignal.any([abort, underway.lease.lost, this.#closing.signal]),
    );
    underway.writing = writing.catch(() => undefined);
    return { files: await writing, missing: [] };
  }

  async progress(): Promise<ExportProgress> {
    const { files, total } = this.#underway ?? {};
    return files === undefined
      ? NO_PROGRESS
      : { table: files.table, rows: files.pagedRows, total: total ?? null };
  }

  async end(): Promise<void> {
    const underway = this.#underway;
    this.#underway = null;
    if (underway === null) return;
    await underway.writing;
    // If ClickHouse is unavailable, the next export removes the snapshot.
    await underway.snapshot.remove().catch(() => undefined);
    await underway.lease.release();
  }

  /** Refuses new exports and aborts the running one. */
  async close(): Promise<void> {
    this.#closing.abort(givenUp('The store is closing.'));
    await this.end();
  }

  async #write(underway: Underway, directory: string, abort: AbortSignal): Promise<readonly WrittenFile[]> {
    const { snapshot, batches, firstHour } = underway;
    const { control, store } = this.#parts.open();
    const files = await TableFiles.open(directory);
    underway.files = files;
    try {
      for (const table of ['agents', 'usage'] as const)
        await files.add(table, await control.exportBase(store, table));
      await files.add('batches', batches);
      for (const table of ['agents', 'usage', 'batches'] as const) await files.end(table);
      await exportRuns(snapshot.reads, files, firstHour, abort);
      await exportPoints(snapshot.reads, files, abort);
      await exportLogs(snapshot.reads, files, abort);
      await exportScores(snapshot.reads, files, abort);
      abort.throwIfAborted();
      return files.files;
    } finally {
      await files.close();
    }
  }

  /** Waits for running writes whose data the snapshot may contain, until their events are emitted and their items counted. */
  async #ended(numbers: readonly number[]): Promise<void> {
    const { book, store } = this.#parts.open();
    const giveUpAt = performance.now() + PATIENCE_MS;
    let waiting: ReadonlySet<number> = new Set(numbers);
    while (waiting.size > 0) {
      this.#closing.signal.throwIfAborted();
      if (performance.now() > giveUpAt) throw writesAreOpen(waiting.size);
      await wait(ASK_AGAIN_MS);
      await this.#parts.finishLeft();
      const open = new Set(await book.openWrites(store));
      waiting = new Set([...waiting].filter((number) => open.has(number)));
    }
  }

  #begun(): Underway {
    if (this.#underway !== null) return this.#underway;
    throw givenUp('The store is closing.');
  }
}

function givenUp(message: string): ConsumeError {
  return new ConsumeError(message, { code: 'storage_unavailable', retryable: true });
}

function writesAreOpen(count: number): ConsumeError {
  return new ConsumeError(
    `${count} writes to the store did not finish within a minute, so the export would be incomplete. Check /readyz of all gateways and try again.`,
    { code: 'storage_unavailable', retryable: true, retryAfterMs: 5000 },
  );
}
