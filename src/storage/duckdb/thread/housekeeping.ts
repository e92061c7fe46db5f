import { invariant } from '../../../signal/checked.js';
import type { Micros } from '../../../signal/time.js';
import type { Table } from '../../schema/table.js';
import { EVENTS } from '../../schema/events-table.js';
import { SCORES } from '../../schema/scores-table.js';
import { PROMPT_LINKS } from '../../schema/prompt-links-table.js';
import { PENDING_KEPT_FOR } from '../../shared/pending-links.js';
import { POINTS, TRACES } from '../../schema/tables.js';
import { LOGS } from '../../schema/log-tables.js';
import type { CachedStats } from '../stats/cached-stats.js';
import { storedSums } from '../segments/cold-sums.js';
import type { DiskRoom } from '../files/disk-room.js';
import type { RecentEvents } from '../write/recent-events.js';
import type { IdIndex } from '../index/id-index.js';
import type { IdleRun, IdleRuns, WantedOfTenants } from '../write/idle-runs.js';
import { removeOldLogs } from '../index/log-retention.js';
import { rebuildMap, type Rebuilt } from '../maintenance/rebuild.js';
import { type RebuildParts } from '../maintenance/rebuild-work.js';
import type { StoredLogs } from './stored-logs.js';
import type { StoredMetrics } from './stored-metrics.js';
import type { Compactor } from '../maintenance/compactor.js';
import { isDeleted, readLinkedPrompts, removeLinks } from '../write/stored-links.js';
import type { StoredPrompts } from './stored-prompts.js';
import { closing } from '../../contracts/errors.js';
import type { Read } from '../segments/read.js';
import {
  firstKeptTime,
  forgetOldNames,
  hasHotRows,
  removeOldEvents,
  removeOldScores,
  removeOldSums,
  removeOldTraces,
} from '../maintenance/retention.js';
import type { RetentionClock } from '../files/retention-clock.js';
import type { RunStats } from '../stats/run-stats.js';
import type { Capture } from '../segments/segment.js';
import type { Segments } from '../segments/segments.js';
import type { ChangeApplier } from '../write/change-applier.js';
import { TraceId } from '../segments/trace-id.js';
import type { TimeoutChange } from '../write/change.js';
import type { Writer } from '../write/writer.js';
import type { OldestTimes, RemovedRows } from '../../shared/kept-metrics.js';
import { relation } from '../segments/relation.js';

/** Whole days to keep, today included; null keeps everything. */
export interface Retention {
  readonly traceRetentionDays: number | null;
  readonly metricRetentionDays: number | null;
  readonly logRetentionDays: number | null;
  readonly eventRetentionDays: number | null;
}

interface Parts {
  readonly retention: Retention;
  readonly clock: RetentionClock;
  readonly read: Read;
  /** The read function of {@link Housekeeping.timeOutIdle}. */
  readonly readIdle: Read;
  readonly writer: Writer;
  readonly room: DiskRoom;
  readonly segments: Segments;
  readonly compactor: Compactor;
  readonly applier: ChangeApplier;
  readonly stats: RunStats;
  readonly kept: CachedStats;
  readonly metrics: StoredMetrics;
  readonly prompts: StoredPrompts;
  readonly logs: StoredLogs;
  readonly traces: IdIndex;
  readonly truncatedSpans: IdIndex;
  readonly idle: IdleRuns;
  /** The newest events of telemetry. */
  readonly recent: RecentEvents;
  readonly map: RebuildParts;
}

/** The result of one sweep over idle runs. */
export interface EndedIdle {
  /** Tenants with idle runs that `wanted` lacked: call again with them. */
  readonly unknown: readonly number[];
  readonly ended: readonly Pick<IdleRun, 'tenant' | 'traceId'>[];
}

/** How many runs time out in one commit, and how many commits one sweep makes; the next sweep handles the rest. */
const IDLE_PAGE = 1000;
const IDLE_PAGES = 20;

/** Work that takes many steps: retention, time-outs of idle runs, and rebuilding the map on demand. */
export class Housekeeping {
  readonly #parts: Parts;
  readonly #underWay = new Set<Promise<unknown>>();
  /** The last exclusive work, whose steps must not mix with those of other exclusive work. */
  #last: Promise<unknown> = Promise.resolve();
  readonly #removed = { traces: 0, spans: 0, points: 0, logs: 0, events: 0 };
  #isRebuilding = false;
  #isClosing = false;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Rows that retention removed since the start. */
  get removed(): RemovedRows {
    return this.#removed;
  }

  /** The times of the oldest data. Reads one column of each table: 10 million rows take some milliseconds. */
  async oldest(): Promise<OldestTimes> {
    return await this.#do(() =>
      this.#parts.read(async (connection, capture) => {
        const oldestOf = async (table: Table, time: string): Promise<Micros | null> => {
          const [row] = await connection.rows(
            `SELECT epoch_us(min(${time})) AS oldest FROM ${relation(capture, table)}`,
          );
          return row?.oldest === null ? null : Number(row?.oldest);
        };
        return {
          traces: await oldestOf(TRACES, 'started_at'),
          metrics: await oldestOf(POINTS, 'timestamp'),
          logs: await oldestOf(LOGS, 'timestamp'),
        };
      }),
    );
  }

  /**
   * Removes data older than retention, if the clock is trusted.
   *
   * @param now microseconds
   * @param deletedPrompts numbers of deleted prompt versions
   * @returns the time before which no events are kept anywhere; null if all are kept
   */
  async applyRetention(now: number, deletedPrompts: readonly number[] = []): Promise<Micros | null> {
    return await this.#do(() => this.#applyRetention(now, deletedPrompts));
  }

  /** The numbers of all prompt versions that have links. */
  async linkedPrompts(): Promise<readonly number[]> {
    return await this.#do(() => this.#parts.read(readLinkedPrompts));
  }

  /**
   * Ends idle runs: `timedOut`.
   *
   * @param now microseconds
   */
  async timeOutIdle(now: number, wanted: WantedOfTenants): Promise<EndedIdle> {
    return await this.#do(() => this.#timeOutIdle(now, wanted));
  }

  /** Rebuilds the service map, or only compares it. @returns null if a rebuild is already running */
  async rebuildMap(dryRun: boolean): Promise<Rebuilt | null> {
    if (this.#isRebuilding) return null;
    this.#isRebuilding = true;
    const throwIfStopped = (): void => {
      if (this.#isClosing) throw closing();
    };
    try {
      return await this.#do(() => this.#alone(() => rebuildMap(this.#parts.map, { dryRun, throwIfStopped })));
    } finally {
      this.#isRebuilding = false;
    }
  }

  /** Refuses new work and waits for running work. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.allSettled(this.#underWay);
  }

  /** Runs work that {@link close} waits for: no file may be closed between its steps. */
  async #do<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosing) throw closing();
    const running = work();
    this.#underWay.add(running);
    try {
      return await running;
    } finally {
      this.#underWay.delete(running);
    }
  }

  /** Runs work after all earlier exclusive work has ended. */
  async #alone<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => {
      if (this.#isClosing) throw closing();
      return work();
    });
    this.#last = turn.catch(() => undefined);
    return await turn;
  }

  async #applyRetention(clockNow: number, deletedPrompts: readonly number[]): Promise<Micros | null> {
    const { clock, compactor } = this.#parts;
    const now = await clock.trusted(clockNow);
    const { traceRetentionDays, metricRetentionDays, logRetentionDays, eventRetentionDays } =
      this.#parts.retention;
    // Each separately: damage in one table must not stop retention of the others.
    const failures: unknown[] = [];
    const attempt = async (work: () => Promise<void>): Promise<void> => {
      await work().catch((error: unknown) => void failures.push(error));
    };
    const remove = async (days: number | null, work: (firstKept: Micros) => Promise<void>): Promise<void> => {
      if (days !== null) await attempt(() => work(firstKeptTime(now, days)));
    };
    // Exclusive, because traces and their sums in the map are removed in separate steps.
    await remove(traceRetentionDays, (firstKept) => this.#alone(() => this.#removeTraces(firstKept)));
    await remove(traceRetentionDays, (firstKept) => this.#alone(() => this.#removeScores(firstKept)));
    const firstTrace = traceRetentionDays === null ? -Infinity : firstKeptTime(now, traceRetentionDays);
    const links = { firstKept: Math.max(firstTrace, now - PENDING_KEPT_FOR), deleted: deletedPrompts };
    await attempt(() => this.#alone(() => this.#removeLinks(links)));
    await remove(metricRetentionDays, (firstKept) => this.#removePoints(firstKept));
    await remove(logRetentionDays, (firstKept) => this.#removeLogs(firstKept));
    await remove(eventRetentionDays, (firstKept) => this.#removeEvents(firstKept));
    if (failures.length > 0) throw failures[0];
    await compactor.between((connection) => forgetOldNames(connection, now));
    return eventRetentionDays === null ? null : firstKeptTime(now, eventRetentionDays);
  }

  async #removeTraces(firstKept: Micros): Promise<void> {
    const { applier, segments, compactor, kept, stats, prompts, traces, truncatedSpans } = this.#parts;
    applier.forgetBefore(firstKept);
    await this.#compactOld(TRACES, 'started_at', firstKept);
    const removed = await compactor.between(async (connection) => {
      await removeOldSums(connection, firstKept);
      return await removeOldTraces(connection, firstKept, segments.oldestBound);
    });
    this.#removed.traces += removed.traces;
    this.#removed.spans += removed.spans;
    if (removed.traces === 0) return;
    await compactor.checkpoint();
    prompts.linked.trim();
    traces.trim();
    truncatedSpans.trim();
    prompts.stats.clear();
    kept.clear();
    // Compaction must not run meanwhile.
    await compactor.between((connection) =>
      this.#captured((capture) => stats.load(storedSums(connection, capture))),
    );
  }

  /** By their own times: what they judge may never have arrived. */
  async #removeScores(firstKept: Micros): Promise<void> {
    const { compactor, logs } = this.#parts;
    await this.#compactOld(SCORES, 'scored_at', firstKept);
    const removed = await compactor.between((connection) => removeOldScores(connection, firstKept));
    if (removed === 0) return;
    await compactor.checkpoint();
    logs.verdicts.trim();
  }

  async #removeLinks(links: {
    readonly firstKept: Micros;
    readonly deleted: readonly number[];
  }): Promise<void> {
    const { compactor, prompts } = this.#parts;
    await this.#compactOld(PROMPT_LINKS, 'linked_at', links.firstKept);
    if (links.deleted.length > 0) await this.#compactIf(PROMPT_LINKS, isDeleted(links.deleted));
    const isRemoved = await compactor.between((connection) =>
      this.#captured((capture) => removeLinks(connection, capture, links)),
    );
    if (!isRemoved) return;
    await compactor.checkpoint();
    prompts.linked.trim();
    // Cached stats may count a removed link whose trace arrived in the meantime.
    prompts.stats.clear();
  }

  /** Runs work with a capture on a connection outside the read pools. */
  async #captured<T>(work: (capture: Capture) => Promise<T>): Promise<T> {
    const { segments } = this.#parts;
    await segments.ready();
    const capture = segments.capture();
    try {
      return await work(capture);
    } finally {
      capture.release();
    }
  }

  async #removePoints(firstKept: Micros): Promise<void> {
    const { compactor, metrics } = this.#parts;
    await this.#compactOld(POINTS, 'timestamp', firstKept);
    const removed = await compactor.between((connection) => metrics.removeBefore(connection, firstKept));
    this.#removed.points += removed;
    if (removed > 0) await compactor.checkpoint();
  }

  async #removeLogs(firstKept: Micros): Promise<void> {
    const { compactor, logs } = this.#parts;
    await this.#compactOld(LOGS, 'timestamp', firstKept);
    const removed = await removeOldLogs((work) => compactor.between(work), firstKept);
    this.#removed.logs += removed;
    if (removed === 0) return;
    await compactor.checkpoint();
    logs.withEvents.trim();
  }

  async #removeEvents(firstKept: Micros): Promise<void> {
    const { compactor, segments, recent } = this.#parts;
    await this.#compactOld(EVENTS, 'timestamp', firstKept);
    // Events that cannot be compacted yet stay readable and are removed by the next retention.
    const moved = segments.oldestBound;
    const removed = await compactor.between((connection) => removeOldEvents(connection, firstKept));
    this.#removed.events += removed;
    recent.forgetBefore(firstKept, moved);
    if (removed > 0) await compactor.checkpoint();
  }

  /**
   * Compacts the hot rows of a table if some are too old: only compacted rows can be removed, and a quiet store takes months to
   * fill a segment. If compaction fails, for example on a full disk, the next retention removes the rows.
   */
  async #compactOld(table: Table, time: string, firstKept: Micros): Promise<void> {
    await this.#compactIf(table, `${time} < make_timestamp(${firstKept})`);
  }

  async #compactIf(table: Table, isGone: string): Promise<void> {
    const { read, segments, writer, compactor } = this.#parts;
    const isThere = await read((connection, capture) => hasHotRows(connection, capture, table, isGone));
    if (!isThere) return;
    await segments.prepared();
    await writer.seal();
    await compactor.tried();
  }

  async #timeOutIdle(now: number, wanted: WantedOfTenants): Promise<EndedIdle> {
    const { idle, readIdle, writer, room } = this.#parts;
    const ended: Pick<IdleRun, 'tenant' | 'traceId'>[] = [];
    // The commit would be refused; these runs time out when there is space again.
    if (room.isShort) return { unknown: [], ended };
    let found: readonly IdleRun[];
    let pages = 0;
    do {
      found = await idle.find(now, IDLE_PAGE, readIdle);
      const unknown = found.filter(({ tenant }) => !wanted.has(tenant)).map(({ tenant }) => tenant);
      if (unknown.length > 0) return { unknown: [...new Set(unknown)], ended };
      await Promise.all(found.map((run) => writer.write(timeoutOf(run, wanted))));
      ended.push(...found.map(({ tenant, traceId }) => ({ tenant, traceId })));
    } while (found.length === IDLE_PAGE && ++pages < IDLE_PAGES && !this.#isClosing);
    return { unknown: [], ended };
  }
}

function timeoutOf({ tenant, traceId, seq }: IdleRun, wanted: WantedOfTenants): TimeoutChange {
  const { words } = new TraceId(traceId);
  return {
    kind: 'timeout',
    tenant,
    words,
    seq,
    wanted: invariant(wanted.get(tenant), 'list of wanted events'),
  };
}
