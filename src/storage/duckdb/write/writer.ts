import type { Logger } from '../../../component/telemetry.js';
import type { ConsumeError } from '../../../component/consume-error.js';
import type { QuotaUsage } from '../../../component/consumer.js';
import { monthOf } from '../../contracts/telemetry-writer.js';
import type { Agents } from '../stats/agents.js';
import type { BackPressure } from './back-pressure.js';
import type { Connection } from '../files/connection.js';
import type { DiskRoom } from '../files/disk-room.js';
import { CommitQueue, type Waiting, type Written } from './commit-queue.js';
import { countedIn, quotaUsage, type ItemCounts } from './item-counts.js';
import { TableAppender } from '../files/appender.js';
import type { Table } from '../../schema/table.js';
import type { Segment } from '../segments/segment.js';
import type { Segments } from '../segments/segments.js';
import type { Applied, ChangeApplier } from './change-applier.js';
import { TooMuchToLoad } from './reloads.js';
import { releaseBuffers } from '../../../worker/release-buffers.js';
import { storageFailure } from '../files/storage-failure.js';
import type { Change } from './change.js';
import { FilterWriter } from './filter-writer.js';
import type { Rows } from './rows.js';

/** A segment is sealed at this many rows or bytes, because its rows are in memory. */
export interface SegmentSize {
  readonly rows: number;
  readonly bytes: number;
}

/** The number of rows was chosen by `bench ingest`. */
export const SEGMENT_SIZE: SegmentSize = { rows: 122_880, bytes: 96 * 1024 * 1024 };

/** Statistics of one commit, for the metrics. */
export interface CommitReport {
  /** Rows written, by the name of their table. */
  readonly rows: Readonly<Record<string, number>>;
  readonly batches: number;
  readonly ms: number;
}

/**
 * Group commit: all waiting changes, up to a limit, become one transaction, and their senders get a response after it. Under low
 * load a batch waits only for its own commit; under high load the groups and the throughput grow.
 */
export class Writer {
  readonly #connection: Connection;
  readonly #segments: Segments;
  readonly #applier: ChangeApplier;
  readonly #agents: Agents;
  readonly #counts: ItemCounts;
  readonly #logger: Logger;
  readonly #onCommit: (report: CommitReport) => void;
  readonly #onSealed: () => void;
  readonly #segmentSize: SegmentSize;
  readonly #pressure: BackPressure;
  readonly #room: DiskRoom;
  readonly #queue: CommitQueue;
  #running: Promise<void> | null = null;
  /** The commits in progress. */
  #committing: Promise<void> | null = null;
  /** Resolves when commits may continue. */
  #paused: Promise<void> | null = null;
  #seq: number;
  readonly #filters: FilterWriter;
  /** Callers that wait for the current segment to be sealed. */
  readonly #toSeal: (() => void)[] = [];

  /** @param connection used by the writer only */
  constructor(parts: {
    readonly connection: Connection;
    readonly segments: Segments;
    readonly applier: ChangeApplier;
    readonly agents: Agents;
    readonly counts: ItemCounts;
    readonly logger: Logger;
    readonly onCommit: (report: CommitReport) => void;
    readonly onSealed: () => void;
    readonly segmentSize: SegmentSize;
    readonly filterBytes?: number | undefined;
    readonly pressure: BackPressure;
    readonly room: DiskRoom;
  }) {
    this.#pressure = parts.pressure;
    this.#room = parts.room;
    this.#connection = parts.connection;
    this.#segments = parts.segments;
    this.#applier = parts.applier;
    this.#agents = parts.agents;
    this.#counts = parts.counts;
    this.#queue = new CommitQueue(parts.counts);
    this.#logger = parts.logger;
    this.#onCommit = parts.onCommit;
    this.#onSealed = parts.onSealed;
    this.#segmentSize = parts.segmentSize;
    this.#seq = parts.segments.lastSeq;
    this.#filters = new FilterWriter(this.#seq, parts.filterBytes);
  }

  /**
   * Resolves after the commit of the change.
   *
   * @throws ConsumeError `storage_unavailable`, `quota_exceeded`, or `overloaded`: nothing of it was stored
   */
  async write(change: Change): Promise<Written> {
    this.#room.check();
    if (change.kind === 'batch' || change.kind === 'append') this.#pressure.check();
    const done = this.#queue.add(change);
    this.#running ??= this.#run();
    return await done;
  }

  /**
   * Seals the current segment if it is full but kept growing because the next one was not ready. For tests and benchmarks;
   * otherwise the next commit does this.
   */
  async sealIfFull(): Promise<void> {
    await this.drained();
    await this.#segments.prepared();
    if (this.#isFull(this.#segments.current)) this.#rotate();
  }

  /** Seals the current segment before it is full, after the current commit, and then resolves. */
  async seal(): Promise<void> {
    if (this.#running === null) this.#rotate();
    else await new Promise<void>((resolve) => this.#toSeal.push(resolve));
  }

  /** Runs work while nothing is committed. Changes wait in the queue meanwhile, so the work must be short. */
  async whilePaused<T>(work: () => Promise<T>): Promise<T> {
    while (this.#paused !== null) await this.#paused;
    let resume = (): void => undefined;
    this.#paused = new Promise((resolve) => (resume = resolve));
    try {
      await this.#committing;
      return await work();
    } finally {
      this.#paused = null;
      resume();
    }
  }

  /** Refuses all waiting changes. The current commit continues. */
  refuseWaiting(): void {
    this.#queue.refuseAll();
  }

  /** Resolves when all waiting changes are committed or refused. */
  async drained(): Promise<void> {
    await this.#running;
  }

  /** Commits the last filter. Call it when everything else is written. @throws Error of DuckDB */
  async storeFilters(): Promise<void> {
    await this.drained();
    this.#filters.completeOpen(this.#seq);
    const seq = this.#seq + 1;
    const written = this.#filters.rows(seq);
    if (written.length === 0) return;
    this.#seq = seq;
    const segment = this.#segments.current;
    await writeRows(this.#connection, segment, written);
    countWritten(segment, seq, { written, applied: [], changes: [] });
  }

  async #run(): Promise<void> {
    while (this.#queue.length > 0) {
      await this.#pressure.pause();
      await this.#queue.gather();
      while (this.#paused !== null) await this.#paused;
      this.#committing = this.#commitInParts(this.#queue.take());
      await this.#committing;
      this.#committing = null;
    }
    if (this.#toSeal.length > 0) this.#rotate();
    // Cleared synchronously after the queue was found empty, so that the next change restarts the loop.
    this.#running = null;
  }

  /** Commits a group in one commit, or in several if it exceeds the load limits. */
  async #commitInParts(group: readonly Waiting[]): Promise<void> {
    let rest = group;
    let size = group.length;
    while (rest.length > 0) {
      const part = rest.slice(0, size);
      try {
        await this.#commit(part);
      } catch (error) {
        if (error instanceof TooMuchToLoad) {
          const { plan } = error;
          let done: ReadonlySet<Change> = new Set();
          switch (plan.kind) {
            case 'up_to':
              size = part.findIndex(({ change }) => change === plan.before);
              break;
            case 'refuse':
              done = this.#refuse(part, plan.refused);
              break;
            case 'first':
              done = await this.#makeRoom(part, plan);
          }
          rest = rest.filter(({ change }) => !done.has(change));
          continue;
        }
        await this.#recover(part, error);
      }
      rest = rest.slice(part.length);
      size = 2 * part.length;
    }
  }

  #refuse(part: readonly Waiting[], refused: ReadonlyMap<Change, ConsumeError>): ReadonlySet<Change> {
    for (const { change, reject } of part) {
      const refusal = refused.get(change);
      if (refusal !== undefined) reject(refusal);
    }
    return new Set(refused.keys());
  }

  /**
   * Makes room for a change that exceeds the load limits: first commits truncations of its runs, or some of its spans. The change
   * is then requeued behind other changes.
   *
   * @returns the change
   */
  async #makeRoom(
    part: readonly Waiting[],
    { first, before }: { readonly first: readonly Change[]; readonly before: Change },
  ): Promise<ReadonlySet<Change>> {
    const waiting = part.filter(({ change }) => change === before);
    const nobody = { resolve: () => undefined, reject: () => undefined };
    try {
      await this.#commit(first.map((change) => ({ change, ...nobody })));
      this.#queue.putBack(waiting);
    } catch (error) {
      await this.#recover(waiting, error);
    }
    return new Set([before]);
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    const begun = performance.now();
    const seq = ++this.#seq;
    const changes = group.map(({ change }) => change);
    this.#agents.begin();
    const applied = await this.#apply(seq, changes);
    const appends = changes.flatMap((change) => (change.kind === 'append' ? change.append : []));
    const written = [...applied.rows, ...appends.flatMap((append) => append.rows(seq))];
    this.#count(changes, applied);
    written.push(...this.#counts.rows(seq), ...this.#filters.rows(seq));
    const segment = this.#segments.current;
    if (written.length > 0) await writeRows(this.#connection, segment, written);
    this.#filters.stored();
    applied.committed();
    for (const append of appends) append.committed();
    this.#counts.committed();
    if (written.length > 0) countWritten(segment, seq, { written, applied: applied.rows, changes });
    for (const { change, resolve } of group) {
      const header = change.kind === 'outcome' ? applied.outcomes.get(change) : undefined;
      resolve({ header: header ?? null, usage: this.#usage(change) });
    }
    this.#onCommit({
      rows: rowsByTable(written),
      batches: group.length,
      ms: performance.now() - begun,
    });
    await this.#filters.add(seq, applied.rows);
    releaseBuffers([...applied.whole, ...appends].flatMap(({ buffers }) => buffers));
    if (this.#isFull(segment) || this.#toSeal.length > 0) this.#rotate();
  }

  #isFull(segment: Segment): boolean {
    const { rows, bytes } = this.#segmentSize;
    return segment.rows >= rows || segment.bytes >= bytes;
  }

  /** @throws ConsumeError `quota_exceeded` */
  #count(changes: readonly Change[], applied: Applied): void {
    for (const change of changes) {
      const counted = countedIn(change);
      if (counted === null) continue;
      const items = change.kind === 'batch' ? applied.items.get(change.batch) : undefined;
      this.#counts.add(counted, change.kind === 'append' ? change.append.items : (items ?? 0));
    }
  }

  #usage(change: Change): QuotaUsage | undefined {
    const counted = countedIn(change);
    return counted === null
      ? undefined
      : quotaUsage(counted, this.#counts.used(counted.tenant, monthOf(counted.at)));
  }

  #rotate(): void {
    if (this.#segments.current.rows > 0 && this.#segments.rotate()) this.#onSealed();
    for (const tell of this.#toSeal.splice(0)) tell();
  }

  async #apply(seq: number, changes: readonly Change[]): Promise<Applied> {
    await this.#segments.ready();
    const capture = this.#segments.capture();
    try {
      const traces = changes.flatMap((change) => (change.kind === 'append' ? [] : change));
      return await this.#applier.apply(seq, traces, capture);
    } finally {
      capture.release();
    }
  }

  /** Nothing of the group was stored. Each change is retried alone, so that an invalid one does not fail the others. */
  async #recover(group: readonly Waiting[], error: unknown): Promise<void> {
    this.#agents.rollback();
    this.#applier.rollback();
    this.#counts.rollback();
    for (const { change } of group) if (change.kind === 'append') change.append.rolledBack();
    const failure = storageFailure(error);
    // Damage is reported once per file, not per batch.
    if (failure.code !== 'quota_exceeded' && failure.code !== 'store_damaged') {
      this.#logger.error({ err: error, batches: group.length }, 'A commit failed; nothing of it was stored.');
    }
    if (group.length === 1 || failure.code === 'storage_unavailable') {
      for (const { reject } of group) reject(failure);
      return;
    }
    for (const one of group) {
      await this.#commitInParts([one]);
    }
  }
}

function rowsByTable(written: readonly Rows[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { table, from, to } of written) counts[table.name] = (counts[table.name] ?? 0) + to - from;
  return counts;
}

/**
 * Writes rows into a segment in one transaction. @param connection that of the writer @throws Error of DuckDB; nothing is then
 * written
 */
async function writeRows(
  connection: Connection,
  { catalog }: Segment,
  written: readonly Rows[],
): Promise<void> {
  const appenders = new Map<Table, TableAppender>();
  await connection.run('BEGIN');
  try {
    for (const { table, source, from, to, assigned } of written) {
      let appender = appenders.get(table);
      if (appender === undefined) {
        appender = new TableAppender(connection, catalog, table);
        appenders.set(table, appender);
      }
      appender.append(source, from, to, assigned);
    }
    for (const appender of appenders.values()) appender.close();
    await connection.run('COMMIT');
  } catch (error) {
    for (const appender of appenders.values()) appender.abandon();
    // A failed commit has already ended the transaction, so the rollback may fail.
    await connection.run('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

/**
 * Updates the size of a segment after a commit; the size determines when it is sealed.
 *
 * @param of.written all rows of the commit
 * @param of.applied the rows of traces
 * @param of.changes the committed changes
 */
function countWritten(
  segment: Segment,
  seq: number,
  of: {
    readonly written: readonly Rows[];
    readonly applied: readonly Rows[];
    readonly changes: readonly Change[];
  },
): void {
  const { written, applied, changes } = of;
  segment.lastSeq = seq;
  for (const { table, from, to, replacing } of written) {
    segment.rows += to - from;
    segment.replacing.set(table.name, (segment.replacing.get(table.name) ?? 0) + replacing);
  }
  for (const change of changes) {
    if (change.kind === 'batch') segment.bytes += change.batch.bytes;
    else if (change.kind === 'append') segment.bytes += change.append.bytes;
  }
  // Rows in addition to the batches: new versions of headers, payloads of late spans, outcomes, links.
  const sent = new Set(
    changes.flatMap((change) =>
      change.kind === 'batch' ? [change.batch.spans.textBuffer, change.batch.traces.textBuffer] : [],
    ),
  );
  for (const rows of applied) if (!sent.has(rows.source.textBuffer)) segment.bytes += bytesOf(rows);
}

/** The approximate bytes of these rows: their share of the source. */
function bytesOf({ source, from, to }: Rows): number {
  const bytes = source.fixed.byteLength + source.textBuffer.byteLength;
  return source.rows === 0 ? 0 : (bytes * (to - from)) / source.rows;
}
