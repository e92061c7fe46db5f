import type { ConsumeContext, Receipt } from '../../component/consumer.js';
import type { LogsBatch } from '../../signal/batch.js';
import type { TelemetryWriter } from '../telemetry-writer.js';
import type { ToldArrivals } from '../told-arrivals.js';
import type { ClickHouseOptions } from './clickhouse-options.js';
import { GroupedInserts, InsertRoom } from './tables/grouped-inserts.js';
import type { Reach } from './client/reach.js';
import { logRows } from './logs/log-rows.js';
import type { Micros } from '../../signal/time.js';
import type { AdmittedItems } from './runs/count-items.js';
import { LOGS } from './tables/log-tables.js';

/** Notes that items are going to be written, where they count for a quota; null where they do not. @throws ConsumeError */
type AdmitBatch = (
  batch: Pick<LogsBatch, 'tenant' | 'quota'>,
  receivedAt: Micros,
  items: number,
) => Promise<AdmittedItems | null>;

/** The part of the contract `TelemetryWriter` that takes items which are only ever added. */
export class ItemWrites implements Partial<TelemetryWriter> {
  readonly #reach: Reach;
  readonly #arrivals: ToldArrivals;
  readonly #room: InsertRoom;
  readonly #logs: GroupedInserts;
  readonly #admit: AdmitBatch;

  /** @param admit counts the items of a batch */
  constructor(
    reach: Reach,
    arrivals: ToldArrivals,
    { groupRows, maxQueueBytes }: Pick<ClickHouseOptions, 'groupRows' | 'maxQueueBytes'>,
    admit: AdmitBatch,
  ) {
    this.#reach = reach;
    this.#arrivals = arrivals;
    this.#admit = admit;
    this.#room = new InsertRoom(maxQueueBytes);
    this.#logs = new GroupedInserts(reach, LOGS, groupRows, this.#room);
  }

  /** Of rows that wait for their insert. */
  get queuedBytes(): number {
    return this.#room.bytes;
  }

  async logs(batch: LogsBatch, { receivedAt }: ConsumeContext): Promise<Receipt> {
    const { items, tenant: userId } = batch;
    const accepted = items.length;
    const tell = this.#arrivals.logsOf(batch);
    // Made before anything is waited for: the caller may change the batch from then on.
    const made = logRows(items, receivedAt);
    const tenant = await this.#reach.tenantOf(userId);
    const admitted = await this.#admit(batch, receivedAt, accepted);
    await this.#logs.add(
      made.rows.map((row) => ({ ...row, tenant })),
      made.bytes,
    );
    const usage = await admitted?.written();
    tell?.();
    return { accepted, refused: [], ...(usage && { usage }) };
  }

  /** Resolves when nothing waits any more. */
  async idle(): Promise<void> {
    await this.#logs.idle();
  }
}
