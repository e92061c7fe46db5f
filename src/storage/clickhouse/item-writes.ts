import { randomInt } from 'node:crypto';
import type { ConsumeContext, QuotaUsage, Receipt } from '../../component/consumer.js';
import type { Clock } from '../../component/telemetry.js';
import { itemAt } from '../../signal/checked.js';
import type { Batch, LogsBatch, MetricsBatch } from '../../signal/batch.js';
import type { Micros } from '../../signal/time.js';
import {
  tracesOfScores,
  verdictsIn,
  type RunVerdict,
  type ScoreRow,
  textBytes,
} from '../incoming/score-rows.js';
import { SCORES, NO_TRACE } from './tables/score-tables.js';
import { nameOfBatch } from '../shared/batch-name.js';
import { CallOrder } from '../shared/call-order.js';
import { TOO_MANY_METRICS } from '../contracts/metrics.js';
import type { MeasuredBytes } from '../shared/measured-bytes.js';
import { type EncodedBatch, type TelemetryWriter, ROW_BYTES } from '../contracts/telemetry-writer.js';
import type { LocalChangeFeed } from '../shared/local-change-feed.js';
import type { StoreUserLimits } from '../shared/store-user-limits.js';
import type { ClickHouseOptions } from './clickhouse-options.js';
import type { StoreHandle } from './client/store-handle.js';
import { KnownMetrics, type TakenMetrics } from './metrics/known-metrics.js';
import { readMetricFacts } from './metrics/metric-facts.js';
import type { PointRows } from './metrics/point-rows.js';
import { RowEncoder, type EncodedLogRows } from './row-encoder.js';
import type { AdmittedItems, WrittenBatch } from './runs/count-items.js';
import { GroupedInserts, InsertRoom } from './tables/grouped-inserts.js';
import { LOGS } from './tables/log-tables.js';
import { missingRows, NO_BATCH } from './tables/stored-batch.js';
import { POINTS } from './tables/metric-tables.js';
import type { NewRow } from './tables/table.js';
import { dayOf } from './tables/days.js';

/** The limit of `randomInt`; counting on from there stays exact. */
const MOST_FIRST_PLACE = 2 ** 48 - 1;

/** Registers items before they are written: `RunStore`. @throws ConsumeError */
type AdmitBatch<Name> = (
  batch: Pick<Batch<unknown>, 'tenant' | 'quota'>,
  receivedAt: Micros,
  items: number,
  name: Name,
) => Promise<AdmittedItems | WrittenBatch | null>;

export interface ItemWriteParts {
  readonly handle: StoreHandle;
  readonly arrivals: LocalChangeFeed;
  readonly options: Pick<ClickHouseOptions, 'groupRows' | 'isReplicated' | 'maxQueueBytes'>;
  /** Registers the exact number of items; null if the batch has neither a quota nor a name. */
  readonly admit: AdmitBatch<string | null>;
  /** The same with an upper bound; null if the decision needs the exact number, then `admit` is called. */
  readonly claim: AdmitBatch<string>;
  readonly clock: Clock;
  readonly stored: Pick<MeasuredBytes, 'refuseExceeded' | 'add'>;
  readonly limitsOf: (userId: string) => Promise<StoreUserLimits>;
  /** Applies a verdict to its run, which may arrive later. */
  readonly judge: (tenant: number, verdict: RunVerdict, at: Micros) => Promise<void>;
  /** Emits the events of stored scores. */
  readonly emitScores: (tenant: number, scores: readonly ScoreRow[], at: Micros) => Promise<void>;
}

/** The part of the contract `TelemetryWriter` for append-only items: metric points and log records. */
export class ItemWrites implements Partial<TelemetryWriter> {
  readonly #parts: ItemWriteParts;
  readonly #room: InsertRoom;
  readonly #logs: GroupedInserts;
  readonly #points: GroupedInserts;
  readonly #scores: GroupedInserts;
  readonly #encoder = new RowEncoder();
  /** Numbers points in order of arrival. Starts at a random number, so that two processes rarely use the same. */
  #place = randomInt(MOST_FIRST_PLACE);
  readonly #metrics: KnownMetrics;
  readonly #order = new CallOrder();

  constructor(parts: ItemWriteParts) {
    const { handle, options, clock } = parts;
    this.#parts = parts;
    this.#room = new InsertRoom(options.maxQueueBytes);
    this.#logs = new GroupedInserts(handle, LOGS, options, this.#room);
    this.#points = new GroupedInserts(handle, POINTS, options, this.#room);
    this.#scores = new GroupedInserts(handle, SCORES, options, this.#room);
    this.#metrics = new KnownMetrics(
      async (tenant) => await readMetricFacts(handle.connection, tenant),
      clock,
    );
  }

  /** Bytes of rows queued for insert. */
  get queuedBytes(): number {
    return this.#room.bytes;
  }

  async logs(batch: LogsBatch, context: ConsumeContext): Promise<Receipt> {
    const notify = this.#parts.arrivals.logsOf(batch.tenant, batch.items);
    // Before the first `await`: the caller may change the batch afterwards.
    const receipt = await this.encodedLogs(this.#encoder.logs(batch, context), context);
    notify?.();
    return receipt;
  }

  async encodedLogs(batch: EncodedBatch, { receivedAt, batch: named }: ConsumeContext): Promise<Receipt> {
    const { items: length, tenant: userId, logs } = batch;
    const { arrivals, admit } = this.#parts;
    const notify = logs && arrivals.logsOf(userId, logs.records, logs.unseen);
    const { scores, ...made } = batch.columns as EncodedLogRows;
    const name = named === undefined ? null : nameOfBatch('logs', named.id, receivedAt).batch;
    const tenant = await this.#admitted(userId);
    const admitted = await admit(batch, receivedAt, length, name);
    if (admitted?.kind === 'written') return receiptOf(length, [], null);
    const rows = made.rows.map((row): NewRow => ({ tenant, batch: name ?? NO_BATCH, ...row }));
    // Before the records: if they cannot be stored, the client repeats both, and a repeated score adds nothing.
    await this.#orFailed(admitted, this.scores(tenant, scores, receivedAt));
    await this.#add(this.#logs, { rows, bytes: made.bytes, tenant, name, admitted });
    const usage = await admitted?.written(length, []);
    notify?.();
    for (const traceId of tracesOfScores(scores)) arrivals.traceChanged(userId, traceId);
    return receiptOf(length, [], usage ?? null);
  }

  /** Adds scores that came with log records or spans, and emits their events. */
  async scores(tenant: number, scores: readonly ScoreRow[], receivedAt: Micros): Promise<void> {
    if (scores.length === 0) return;
    await this.fillScores(tenant, scores, receivedAt);
    await this.#parts.emitScores(tenant, scores, receivedAt);
  }

  /** Adds scores, and applies them to their runs. A repeat of a score adds nothing. */
  async fillScores(tenant: number, scores: readonly ScoreRow[], receivedAt: Micros): Promise<void> {
    const { rows, bytes } = scoreRows(tenant, scores, receivedAt);
    await this.#scores.add(rows, bytes);
    this.#parts.stored.add(tenant, bytes);
    await Promise.all(verdictsIn(scores).map((verdict) => this.#parts.judge(tenant, verdict, receivedAt)));
  }

  async metrics(batch: MetricsBatch, context: ConsumeContext): Promise<Receipt> {
    return await this.encodedMetrics(this.#encoder.metrics(batch, context), context);
  }

  /** Runs in call order: the last type and unit seen of a metric count. */
  async encodedMetrics(batch: EncodedBatch, { receivedAt, batch: named }: ConsumeContext): Promise<Receipt> {
    const { tenant: userId, items: length } = batch;
    const { rows, metricOf, metrics, bytes } = batch.columns as PointRows;
    const name = named === undefined ? null : nameOfBatch('metrics', named.id, receivedAt).batch;
    const prepare = async (): Promise<TakenPoints | WrittenBatch> => {
      const { claim, admit } = this.#parts;
      const tenant = await this.#admitted(userId);
      // Before the metric limits are checked: a repeated batch skips them.
      const claimed = name === null || length === 0 ? null : await claim(batch, receivedAt, length, name);
      if (claimed?.kind === 'written') return claimed;
      const taken = await this.#orFailed(claimed, this.#metrics.take(tenant, metrics));
      const refused: number[] = [];
      const kept = rows.flatMap((row, index): NewRow[] => {
        const facts = itemAt(taken.facts, itemAt(metricOf, index));
        if (facts !== null)
          return [{ tenant, batch: name ?? NO_BATCH, place: this.#place++, ...facts, ...row }];
        refused.push(index);
        return [];
      });
      try {
        const admitted = claimed ?? (await admit(batch, receivedAt, kept.length, name));
        if (admitted?.kind !== 'written') return { kind: 'taken', taken, kept, refused, tenant, admitted };
        taken.ended(false);
        return admitted;
      } catch (error) {
        taken.ended(false);
        throw error;
      }
    };
    return await this.#order.send(userId, prepare, async (prepared) => {
      if (prepared.kind === 'written') return receiptOf(length, prepared.refused, null);
      const { taken, kept, refused, tenant, admitted } = prepared;
      try {
        await this.#add(this.#points, { rows: kept, bytes, tenant, name, admitted });
        taken.ended(true);
      } catch (error) {
        taken.ended(false);
        throw error;
      }
      return receiptOf(length, refused, (await admitted?.written(kept.length, refused)) ?? null);
    });
  }

  /** Adds finished rows of an import. @param bytes their approximate size */
  async fill(table: 'points' | 'logs', rows: readonly NewRow[], bytes: number): Promise<void> {
    await (table === 'logs' ? this.#logs : this.#points).add([...rows], bytes);
  }

  async #add(inserts: GroupedInserts, { rows, bytes, tenant, name, admitted }: Added): Promise<void> {
    const add = async (): Promise<void> => {
      const missing =
        admitted?.isBegun === true && name !== null
          ? await missingRows(this.#parts.handle.connection, inserts.table, { tenant, batch: name }, rows)
          : rows;
      await inserts.add(missing, bytes);
    };
    const { stored } = this.#parts;
    stored.add(tenant, bytes);
    try {
      await this.#orFailed(admitted, add());
    } catch (error) {
      stored.add(tenant, -bytes);
      throw error;
    }
  }

  /** @returns the user's number @throws ConsumeError `storage_exceeded` */
  async #admitted(userId: string): Promise<number> {
    const { stored, limitsOf } = this.#parts;
    const limits = await limitsOf(userId);
    await stored.refuseExceeded(limits);
    return limits.tenant;
  }

  /** Releases admitted items if the work fails. */
  async #orFailed<T>(admitted: AdmittedItems | null, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      // A failure here is harmless: the write ends when its lease expires.
      await admitted?.failed().catch(() => undefined);
      throw error;
    }
  }

  /** Resolves when the queue is empty. */
  async idle(): Promise<void> {
    await this.#order.sent();
    await Promise.all([this.#logs.idle(), this.#points.idle(), this.#scores.idle()]);
  }
}

/** The accepted points of a batch. */
interface TakenPoints {
  readonly kind: 'taken';
  readonly taken: TakenMetrics;
  readonly kept: readonly NewRow[];
  /** Positions of the refused points. */
  readonly refused: readonly number[];
  readonly tenant: number;
  readonly admitted: AdmittedItems | null;
}

/** Rows to add. */
interface Added {
  readonly rows: readonly NewRow[];
  readonly bytes: number;
  readonly tenant: number;
  readonly name: string | null;
  readonly admitted: AdmittedItems | null;
}

function receiptOf(items: number, refused: readonly number[], usage: QuotaUsage | null): Receipt {
  return {
    accepted: items - refused.length,
    refused: refused.map((index) => ({ index, reason: TOO_MANY_METRICS })),
    ...(usage && { usage }),
  };
}

/** Scores as rows of `SCORES`, and their approximate bytes. */
function scoreRows(
  tenant: number,
  scores: readonly ScoreRow[],
  arrived: Micros,
): { readonly rows: readonly NewRow[]; readonly bytes: number } {
  let all = 0;
  const rows = scores.map(({ trace_id, ...score }): NewRow => {
    const bytes = textBytes(score);
    all += ROW_BYTES.score + bytes;
    return {
      tenant,
      day: dayOf(score.scored_at, arrived),
      trace_id: trace_id ?? NO_TRACE,
      received_at: arrived,
      bytes,
      ...score,
    };
  });
  return { rows, bytes: all };
}
