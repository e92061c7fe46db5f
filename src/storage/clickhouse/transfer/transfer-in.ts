import type { Micros } from '../../../signal/time.js';
import { formatUuid } from '../../../worker/uuid-words.js';
import type { ControlTransfer } from '../../control-transfer.js';
import { IncomingBatch } from '../../incoming/incoming-batch.js';
import type {
  ExportedRow,
  TelemetryIn,
  TransferBase,
  TransferredLink,
  TransferredRuns,
} from '../../telemetry-transfer.js';
import type { Reads } from '../client/reads.js';
import type { ItemWrites } from '../item-writes.js';
import type { RunChange } from '../runs/run-change.js';
import { exportedLogRow, exportedPointRow } from './exported-rows.js';

/** What an import into ClickHouse works with. */
export interface TransferInParts {
  /** @throws ConsumeError where the store is not open */
  readonly open: () => {
    readonly reads: Reads;
    readonly control: ControlTransfer;
    /** The identity of the store. */
    readonly store: string;
    readonly now: Micros;
  };
  readonly write: (change: RunChange) => Promise<unknown>;
  readonly items: Pick<ItemWrites, 'fill'>;
  /** Lets runs time out of which nothing came until then. @returns how many */
  readonly timeOut: (at: Micros) => Promise<number>;
}

/** About the bytes of a row beside its texts. */
const ROW_BYTES = 400;

/** `TelemetryIn` in ClickHouse: runs go the way of any batch, so that a write is in the book until what follows from it is stored. */
export class TransferIn implements TelemetryIn {
  readonly #parts: TransferInParts;
  #place = 0;

  constructor(parts: TransferInParts) {
    this.#parts = parts;
  }

  async holds(): Promise<string | null> {
    const { reads } = this.#parts.open();
    for (const table of ['messages', 'spans', 'runs', 'points', 'logs'])
      if ((await reads.rows(`SELECT 1 AS found FROM ${table} LIMIT 1`)).length > 0)
        return `${table} (extensions.clickhouse.database)`;
    return null;
  }

  async base(base: TransferBase): Promise<void> {
    const { control, store } = this.#parts.open();
    await control.importBase(store, base);
  }

  async traces(tenant: number, runs: TransferredRuns): Promise<void> {
    const batch = new IncomingBatch({ ...runs, tenant, wanted: [] });
    const traceIds = Array.from({ length: batch.traces.rows }, (_, trace) =>
      formatUuid(batch.traceIds, trace * 4),
    );
    await this.#parts.write({ batch, traceIds });
  }

  async link(tenant: number, { promptNo, traceId, linkedAt }: TransferredLink): Promise<void> {
    await this.#parts.write({ tenant, traceId, at: linkedAt, message: { kind: 'link', prompt: promptNo } });
  }

  async points(tenant: number, rows: readonly ExportedRow[]): Promise<void> {
    const { now } = this.#parts.open();
    const made = rows.map((row) => exportedPointRow(row, { tenant, arrived: now, place: this.#place++ }));
    await this.#parts.items.fill('points', made, rows.length * ROW_BYTES);
  }

  async logs(tenant: number, rows: readonly ExportedRow[]): Promise<void> {
    const { now } = this.#parts.open();
    const made = rows.map((row) => exportedLogRow(row, { tenant, arrived: now }));
    const bytes = rows.reduce((sum, row) => sum + Number(row['bytes']) + ROW_BYTES, 0);
    await this.#parts.items.fill('logs', made, bytes);
  }

  async finish(at: Micros): Promise<string> {
    while ((await this.#parts.timeOut(at)) > 0);
    const [row] = await this.#parts.open().reads.rows('SELECT max(version) AS ticket FROM runs');
    return String(Number(row?.ticket ?? 0));
  }
}
