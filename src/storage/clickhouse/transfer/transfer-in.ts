import { randomUUID } from 'node:crypto';
import type { Micros } from '../../../signal/time.js';
import { systemClock } from '../../../telemetry/system-clock.js';
import { formatUuid } from '../../../worker/uuid-words.js';
import type {
  ControlTransfer,
  ExportedRow,
  TelemetryIn,
  TransferBase,
  TransferredLink,
  TransferredRuns,
} from '../../contracts/transfer.js';
import { exportedScores } from '../../incoming/score-rows.js';
import { HeldLease } from '../../shared/held-lease.js';
import { IncomingBatch } from '../../incoming/incoming-batch.js';
import type { Leases } from '../../contracts/coordination.js';
import type { Reads } from '../client/reads.js';
import type { ItemWrites } from '../item-writes.js';
import type { RunChange } from '../runs/run-change.js';
import { exportedLogRow, exportedPointRow } from './exported-rows.js';

/** Dependencies of an import into ClickHouse. */
export interface TransferInParts {
  /** @throws ConsumeError if the store is not open */
  readonly open: () => {
    readonly connection: Reads;
    readonly control: ControlTransfer;
    readonly leases: Leases;
    /** The identity of the store. */
    readonly store: string;
    readonly now: Micros;
  };
  readonly database: string;
  readonly write: (change: RunChange) => Promise<unknown>;
  readonly items: Pick<ItemWrites, 'fill' | 'fillScores'>;
  /** Times out runs that are idle at `at`. @returns how many */
  readonly timeOut: (at: Micros) => Promise<number>;
}

/** Lease of an import; after a killed import, the next one must wait for it. */
const LEASE_MS = 30_000;
/** Approximate bytes of a row without its texts. */
const ROW_BYTES = 400;

/** `TelemetryIn` for ClickHouse. Runs are written like any batch, with a write intent until their derived rows are stored. */
export class TransferIn implements TelemetryIn {
  readonly #parts: TransferInParts;
  #held: HeldLease | null = null;
  #place = 0;

  constructor(parts: TransferInParts) {
    this.#parts = parts;
  }

  /** The lease uses the database name, because the identity changes if the database is recreated. */
  async begin(): Promise<boolean> {
    const hold = { leases: this.#parts.open().leases, ms: LEASE_MS, clock: systemClock };
    this.#held = await HeldLease.take(hold, `clickhouse/${this.#parts.database}/import`, randomUUID());
    return this.#held !== null;
  }

  async end(): Promise<void> {
    await this.#held?.release();
    this.#held = null;
  }

  async holds(): Promise<string | null> {
    const { connection, control, store } = this.#parts.open();
    const place = `the database ${this.#parts.database} in ClickHouse (extensions.clickhouse.database; DROP DATABASE removes it)`;
    for (const table of ['messages', 'spans', 'runs', 'points', 'logs', 'scores'])
      if ((await connection.rows(`SELECT 1 AS found FROM ${table} LIMIT 1`)).length > 0)
        return `${table} in ${place}`;
    // These are in the control store, under the identity of the database.
    for (const table of ['agents', 'usage', 'batches'] as const)
      if ((await control.exportBase(store, table)).length > 0) return `${table} of ${place}`;
    return null;
  }

  async base(base: TransferBase): Promise<void> {
    const { control, store } = this.#filling();
    await control.importBase(store, base);
  }

  async traces(tenant: number, runs: TransferredRuns): Promise<void> {
    const batch = new IncomingBatch({ ...runs, tenant, wanted: [] });
    const traceIds = Array.from({ length: batch.traces.rows }, (_, trace) =>
      formatUuid(batch.traceIds, trace * 4),
    );
    this.#filling();
    await this.#parts.write({ kind: 'batch', batch, traceIds });
  }

  async link(tenant: number, { promptNo, traceId, linkedAt }: TransferredLink): Promise<void> {
    this.#filling();
    await this.#parts.write({
      kind: 'message',
      tenant,
      traceId,
      at: linkedAt,
      message: { kind: 'link', prompt: promptNo },
    });
  }

  async points(tenant: number, rows: readonly ExportedRow[]): Promise<void> {
    const { now } = this.#filling();
    const made = rows.map((row) => exportedPointRow(row, { tenant, arrived: now, place: this.#place++ }));
    await this.#parts.items.fill('points', made, rows.length * ROW_BYTES);
  }

  async logs(tenant: number, rows: readonly ExportedRow[]): Promise<void> {
    const { now } = this.#filling();
    const made = rows.map((row) => exportedLogRow(row, { tenant, arrived: now }));
    const bytes = rows.reduce((sum, row) => sum + Number(row['bytes']) + ROW_BYTES, 0);
    await this.#parts.items.fill('logs', made, bytes);
  }

  async scores(tenant: number, rows: readonly ExportedRow[]): Promise<void> {
    const { now } = this.#filling();
    await this.#parts.items.fillScores(tenant, exportedScores(rows), now);
  }

  async finish(at: Micros): Promise<string> {
    this.#filling();
    while ((await this.#parts.timeOut(at)) > 0);
    const [row] = await this.#parts.open().connection.rows('SELECT max(version) AS fence FROM runs');
    return String(Number(row?.fence ?? 0));
  }

  /** @throws ConsumeError if another import may have started since */
  #filling() {
    this.#held?.lost.throwIfAborted();
    return this.#parts.open();
  }
}
