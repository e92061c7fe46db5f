import { rm } from 'node:fs/promises';
import type { Logger } from '../../../component/telemetry.js';
import type { Micros } from '../../../signal/time.js';
import type { EventPageLimit, FactPage } from '../../contracts/events.js';
import type { OutcomeChange, RunOutcome } from '../../contracts/runs.js';
import type { WantedOfTenants } from '../write/idle-runs.js';
import type { EndedIdle } from './housekeeping.js';
import type { Observations } from '../read/observations.js';
import type { WriteAnswer } from '../write/commit-queue.js';
import type { TracesMessage } from '../../incoming/encode-traces.js';
import { openParts, type EngineParts } from './engine-parts.js';
import { readFacts } from '../write/facts.js';
import type { LogsMessage } from '../write/encode-logs.js';
import { IncomingScores, judgeRuns } from '../write/incoming-scores.js';
import type { ScoreRow } from '../../incoming/score-rows.js';
import type { Rebuilt } from '../maintenance/rebuild.js';
import type { PointsMessage } from '../write/encode-points.js';
import type { NumberedLink } from '../write/prompt-links.js';
import type { OldestTimes } from '../../shared/kept-metrics.js';
import { statsOf, type StoreStats } from './store-stats.js';
import type { StoreListener, StoreOptions } from './store-options.js';
import type { ReadParts } from './store-reads.js';
import { TraceId } from '../segments/trace-id.js';
import type { TenantBytes } from '../../shared/measured-bytes.js';
import type { TransferBase } from '../../contracts/transfer.js';
import { RestoredBase } from '../transfer/restored-base.js';
import { StoreBackup } from '../transfer/store-backup.js';
import { StoreExport } from '../transfer/store-export.js';
import { IncomingBatch } from '../../incoming/incoming-batch.js';
import { EVENTS } from '../../schema/events-table.js';
import { LOGS } from '../../schema/log-tables.js';
import { PROMPT_LINKS } from '../../schema/prompt-links-table.js';
import { SCORES } from '../../schema/scores-table.js';
import { ROW_BYTES } from '../../contracts/telemetry-writer.js';
import type { Table } from '../../schema/table.js';
import { PAYLOADS, POINTS, SPANS, STORED_TEXTS, TRACES } from '../../schema/tables.js';
import type { Connection } from '../files/connection.js';
import { relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';

/**
 * The embedded store inside its thread: one DuckDB instance, one writer, one compactor, a few readers. `../README.md` says which
 * file holds which table. Users are tenant numbers here; the caller has already read their limits from the control store.
 */
export class StoreEngine {
  /** UUID of the store. */
  readonly id: string;
  readonly observations: Observations;
  readonly export: StoreExport;
  readonly backup: StoreBackup;
  /** The argument for `answerRead`. */
  readonly reads: ReadParts;
  readonly #parts: EngineParts;

  private constructor(parts: EngineParts, { path, memoryLimit }: StoreOptions) {
    this.id = parts.main.storeId;
    this.observations = parts.observations;
    this.reads = parts;
    const { reads, events } = parts;
    const isPressing = (): boolean => parts.pressure.pauseMs > 0;
    this.export = new StoreExport({ reads, events, isPressing, scratch: scratchOf(path), memoryLimit });
    const { writer, compactor, segments, main } = parts;
    this.backup = new StoreBackup({
      ...{ mainPath: path, writer, compactor, segments, clockNotes: main.clockNotes },
      ...{ events, reads, isPressing },
    });
    this.#parts = parts;
  }

  /** @throws StoreOpenError with the file and the remedy. */
  static async open(options: StoreOptions, logger: Logger, listener: StoreListener): Promise<StoreEngine> {
    const parts = await openParts(options, logger, listener);
    // Files of an export that was running when the process was killed.
    await rm(scratchOf(options.path), { recursive: true, force: true });
    // Earlier versions recorded slow reads in this file.
    await rm(`${options.path.replace(/\.(duckdb|db)$/, '')}.asked`, { force: true });
    return new StoreEngine(parts, options);
  }

  stats(): StoreStats {
    return statsOf(this.#parts);
  }

  /** The times of the oldest data. */
  async oldest(): Promise<OldestTimes> {
    return await this.#parts.housekeeping.oldest();
  }

  /** Writes all traces of the message. */
  async writeTraces(message: TracesMessage): Promise<WriteAnswer> {
    const { writer, traces } = this.#parts;
    const batch = new IncomingBatch(message);
    const { usage } = await writer.write({ kind: 'batch', batch });
    if (batch.scores.length > 0) await judgeRuns({ writer, traces }, batch.tenant, batch.scores);
    return { usage };
  }

  async setOutcome(tenant: number, traceId: string, change: OutcomeChange): Promise<RunOutcome | null> {
    const { words } = new TraceId(traceId);
    const { success, outcome } = change;
    const { header } = await this.#parts.writer.write({ kind: 'outcome', tenant, words, success, outcome });
    return header === null ? null : { success, outcome: header.outcome };
  }

  /** @returns the positions of refused points, whose user has too many metrics */
  async writePoints(message: PointsMessage): Promise<WriteAnswer & { readonly refused: readonly number[] }> {
    const { metrics, writer } = this.#parts;
    return await metrics.write(writer, message);
  }

  async writeLogs(message: LogsMessage): Promise<WriteAnswer> {
    const { logs, writer } = this.#parts;
    return await logs.write(writer, message);
  }

  /** Resolves after the commit. */
  async writeScores(tenant: number, scores: readonly ScoreRow[]): Promise<void> {
    const { writer, traces, logs } = this.#parts;
    await writer.write({ kind: 'append', append: new IncomingScores(tenant, scores, logs.verdicts) });
    await judgeRuns({ writer, traces }, tenant, scores);
  }

  /** The committed facts after a mark. @param mark null for all */
  async readFacts(mark: string | null, limit: EventPageLimit): Promise<FactPage> {
    return await readFacts(this.#parts.events, mark, limit);
  }

  /** @param listener called after each commit that wrote facts, once they are readable @returns a function that unsubscribes */
  watchFacts(listener: () => void): () => void {
    return this.#parts.recent.watch(listener);
  }

  /** The stored bytes of each tenant. */
  async storedBytes(): Promise<TenantBytes> {
    return await this.#parts.reads.forWork('usage')(readStoredBytes);
  }

  /** Resolves after the commit. @param now microseconds */
  async linkPrompt(tenant: number, link: NumberedLink, now: Micros): Promise<void> {
    const { prompts, writer } = this.#parts;
    await prompts.link(writer, tenant, link, now);
  }

  /**
   * Removes data older than retention.
   *
   * @param now microseconds
   * @param deletedPrompts numbers of deleted prompt versions, from {@link linkedPrompts}
   * @returns the time before which no events are kept anywhere; null if all are kept
   */
  async applyRetention(now: Micros, deletedPrompts: readonly number[]): Promise<Micros | null> {
    return await this.#parts.housekeeping.applyRetention(now, deletedPrompts);
  }

  /** The numbers of all prompt versions that have links. */
  async linkedPrompts(): Promise<readonly number[]> {
    return await this.#parts.housekeeping.linkedPrompts();
  }

  /** See `Housekeeping.timeOutIdle`. */
  async timeOutIdle(now: Micros, wanted: WantedOfTenants): Promise<EndedIdle> {
    return await this.#parts.housekeeping.timeOutIdle(now, wanted);
  }

  /** Whether the store holds no telemetry. */
  isEmpty(): boolean {
    return this.#parts.segments.lastSeq === 0;
  }

  /** The number of the last commit. */
  get lastCommit(): number {
    return this.#parts.segments.lastSeq;
  }

  /** Stores the data that a restore writes before any run. Resolves after the commit. */
  async restoreBase(base: TransferBase): Promise<void> {
    const { writer, knownAgents } = this.#parts;
    await writer.write({ kind: 'append', append: new RestoredBase(base, knownAgents) });
  }

  /** @returns null if a rebuild is already running */
  async rebuildMap(dryRun: boolean): Promise<Rebuilt | null> {
    return await this.#parts.housekeeping.rebuildMap(dryRun);
  }

  /** Waits until the full segments are sealed and compacted. */
  async settled(): Promise<void> {
    await this.#parts.writer.sealIfFull();
    await this.#parts.compactor.settled();
  }

  /** Makes `close` fast: refuses queued work and interrupts running statements. */
  abortPending(): void {
    const { writer, pools, database } = this.#parts;
    writer.refuseWaiting();
    pools.users.abortPending();
    pools.own.abortPending();
    database.interrupt();
  }

  /**
   * Commits accepted writes, finishes the running reads, and closes every file.
   *
   * @param readsOver resolves when no running read can request another connection
   */
  async close(readsOver?: () => Promise<void>): Promise<void> {
    const {
      housekeeping,
      writer,
      compactor,
      pools,
      segments,
      traces,
      truncatedSpans,
      prompts,
      logs,
      database,
      room,
      main,
    } = this.#parts;
    await room.close();
    const indexes = [traces, truncatedSpans, prompts.linked, logs.withEvents, logs.verdicts];
    for (const index of indexes) index.stop();
    const swept = housekeeping.close();
    await this.export.close();
    await this.backup.close();
    await writer.drained();
    await compactor.close();
    await swept;
    await writer.storeFilters().catch(() => undefined);
    await readsOver?.();
    await pools.users.close();
    await pools.own.close();
    for (const index of indexes) await index.close();
    await main.clockNotes.idle();
    await segments.close();
    database.close();
  }
}

/** Where exports write each file before it is moved to its directory. */
function scratchOf(path: string): string {
  return `${path}.export`;
}

/** The size of a row of each table: a constant plus the lengths of unbounded texts. */
const BYTES: readonly (readonly [table: Table, bytes: string])[] = [
  [SPANS, `${ROW_BYTES.span} + ${lengthsOf(...STORED_TEXTS)}`],
  [PAYLOADS, 'bytes'],
  [TRACES, `${ROW_BYTES.run} + ${lengthsOf('outcome', 'error_message', 'metadata', 'tags')}`],
  [POINTS, `${ROW_BYTES.point} + strlen(labels) + ${lengthsOf('distribution', 'exemplars')}`],
  [LOGS, `${ROW_BYTES.log} + bytes`],
  [EVENTS, 'bytes'],
  [PROMPT_LINKS, String(ROW_BYTES.link)],
  [SCORES, `${ROW_BYTES.score} + ${lengthsOf('comment', 'metadata')}`],
];

/** Uncompressed bytes of telemetry per tenant. */
async function readStoredBytes(connection: Connection, capture: Capture): Promise<TenantBytes> {
  const parts = BYTES.map(
    ([table, bytes]) =>
      `SELECT tenant, sum(${bytes}) AS bytes FROM ${relation(capture, table)} GROUP BY tenant`,
  );
  const rows = await connection.rows(
    `SELECT tenant, sum(bytes)::BIGINT AS bytes FROM (${parts.join(' UNION ALL ')}) GROUP BY tenant`,
  );
  return new Map(rows.map(({ tenant, bytes }) => [Number(tenant), Number(bytes)]));
}

function lengthsOf(...columns: readonly string[]): string {
  return columns.map((column) => `coalesce(strlen(${column}), 0)`).join(' + ');
}
