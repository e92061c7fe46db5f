import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../../../component/telemetry.js';
import {
  quarantineMessage,
  forgetQuarantine,
  noteQuarantine,
  unreadableMessage,
} from '../segments/quarantine.js';
import type { Connection } from '../files/connection.js';
import { isUnreadable, type Damage } from '../files/damage.js';
import { ColdUpkeep } from './cold-upkeep.js';
import { copySegment, noteReplacedInQuarantine } from './segment-copy.js';
import type { Segment } from '../segments/segment.js';
import type { Segments } from '../segments/segments.js';
import type { HealthIssues } from '../files/health-issues.js';

/** The pause after a slice. Of the measured values this one delays acknowledgements least. */
const PAUSE_MS = 20;
/** With this many sealed segments the compactor makes no pauses: freeing memory is then more important than short write delays. */
const ACCELERATE_AT = 3;
/** The wait after a failed attempt. */
const RETRY_MS = 5000;
/** The wait after an attempt that found a damaged block, which only a restart with other files resolves. */
const DAMAGED_RETRY_MS = 60_000;
/** Interval between attempts to compact quarantined segments. */
const LATE_EVERY_MS = 600_000;
/** After this many failures the next segment is tried. */
const TRIES = 5;
/** Most segments to quarantine, because their rows stay in memory. At the limit, all later segments wait for the failing one. */
const MOST_QUARANTINED = 16;
/** Number of compactions after which the parts of sums in the cold file are merged. */
const FOLD_EVERY = 8;

/** Intervals that tests shorten. */
export interface CompactionSettings {
  readonly retryMs: number;
  readonly lateEveryMs: number;
}

interface Parts {
  readonly segments: Segments;
  readonly healthIssues: HealthIssues;
  readonly damage: Damage;
  readonly logger: Logger;
  readonly settings?: CompactionSettings | undefined;
}

/**
 * Compacts sealed segments into the cold file in order, each in one transaction that proceeds in small slices. A failed segment is
 * retried. After several failures the next segment is tried: if that one can be compacted, the cause is the failed segment, not the
 * disk or the cold file, and the same transaction quarantines it. Quarantined segments are retried later; rows that superseded
 * theirs in the meantime stay.
 */
export class Compactor {
  readonly #connection: Connection;
  readonly #segments: Segments;
  readonly #healthIssues: HealthIssues;
  readonly #logger: Logger;
  readonly #settings: CompactionSettings;
  #running: Promise<void> | null = null;
  #compactions = 0;
  readonly #waitingForTry: (() => void)[] = [];
  readonly #cold: ColdUpkeep;
  /** Number of failures of each segment. */
  readonly #failures = new WeakMap<Segment, number>();
  /** Quarantined segments that are due for a retry. */
  #late: Segment[];
  readonly #lateTimer: NodeJS.Timeout;
  readonly #stop = new AbortController();
  #exclusive: Promise<void> = Promise.resolve();

  /** @param connection the compactor's own */
  constructor(connection: Connection, { segments, healthIssues, damage, logger, settings }: Parts) {
    this.#connection = connection;
    this.#segments = segments;
    this.#healthIssues = healthIssues;
    this.#logger = logger;
    this.#settings = settings ?? { retryMs: RETRY_MS, lateEveryMs: LATE_EVERY_MS };
    this.#cold = new ColdUpkeep(connection, {
      segments,
      logger,
      damage,
      stop: this.#stop.signal,
      breathe: () => this.#breathe(),
      pause: () => this.#pause(this.#settings.retryMs),
    });
    this.#late = [...segments.quarantined];
    this.#lateTimer = setInterval(() => {
      this.#late = [...segments.quarantined];
      this.wake();
    }, this.#settings.lateEveryMs).unref();
  }

  /** Blocks of log records merged since the start. */
  get mergedBlocks(): number {
    return this.#cold.mergedBlocks;
  }

  /** Starts compaction if there is work. */
  wake(): void {
    if (this.#hasWork) this.#running ??= this.#run();
  }

  /** Runs work on the cold file between two compactions. */
  async between<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const turn = this.#exclusive.then(() => {
      // The connection is about to be closed, and a statement on a closed connection would crash the process.
      this.#stop.signal.throwIfAborted();
      return work(this.#connection);
    });
    this.#exclusive = turn.then(
      () => undefined,
      () => undefined,
    );
    return await turn;
  }

  /** Waits until no segment is left to compact, possibly forever. For tests and benchmarks. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Waits until no segment is left to compact, or an attempt failed. */
  async tried(): Promise<void> {
    const failed = new Promise<void>((resolve) => this.#waitingForTry.push(resolve));
    await Promise.race([this.#running, failed]);
  }

  /** Aborts the current compaction: its transaction is rolled back, and the next start repeats it. */
  async close(): Promise<void> {
    clearInterval(this.#lateTimer);
    this.#stop.abort();
    await this.#running;
    await this.#exclusive;
  }

  get #hasWork(): boolean {
    return !this.#stop.signal.aborted && (this.#segments.sealed.length > 0 || this.#late.length > 0);
  }

  async #run(): Promise<void> {
    while (this.#hasWork) {
      if (this.#segments.sealed.length > 0) await this.#compactNext();
      else await this.#compactQuarantined();
    }
    // Cleared synchronously after the last check, so that the next `wake` finds it idle.
    this.#running = null;
    for (const notify of this.#waitingForTry.splice(0)) notify();
  }

  /** Compacts the first sealed segment, or the next one if earlier ones failed too often. */
  async #compactNext(): Promise<void> {
    const stuck: Segment[] = [];
    let isDamaged = false;
    for (const segment of this.#segments.sealed) {
      try {
        await this.between(() => this.#compact(segment, stuck));
        return;
      } catch (error) {
        if (this.#stop.signal.aborted) return;
        isDamaged = isUnreadable(error);
        const before = this.#failures.get(segment) ?? 0;
        // Damage is permanent, and `Damage` logs it repeatedly.
        const failures = isDamaged ? TRIES : before + 1;
        this.#failures.set(segment, failures);
        if (!isDamaged || before === 0) {
          this.#logger.error(
            { err: error, segment: segment.number },
            'Could not compact a segment; retrying.',
          );
        }
        await this.#cold.attachAfter(error);
        stuck.push(segment);
        if (failures < TRIES || this.#segments.quarantinedCount + stuck.length > MOST_QUARANTINED) break;
      }
    }
    for (const notify of this.#waitingForTry.splice(0)) notify();
    await this.#pause(isDamaged ? DAMAGED_RETRY_MS : this.#settings.retryMs);
  }

  /** @param stuck earlier segments that could not be compacted; this transaction quarantines them */
  async #compact(segment: Segment, stuck: readonly Segment[]): Promise<void> {
    const connection = this.#connection;
    const canBeRead = new Map<Segment, boolean>();
    await this.#transaction(async () => {
      await this.#copy(segment, this.#segments.isAnyQuarantined || stuck.length > 0);
      for (const one of stuck) canBeRead.set(one, await this.#segments.canBeRead(one));
      const others = this.#segments.sealed.filter((other) => !stuck.includes(other));
      for (const [one, isRead] of canBeRead) {
        await noteQuarantine(connection, { segment: one.number, lastSeq: one.lastSeq, isRead }, others);
      }
      const read = stuck.filter((one) => canBeRead.get(one));
      await noteReplacedInQuarantine(connection, segment, [...this.#segments.quarantined, ...read]);
      // Replaces the previous entry: every start reads all entries, so they must not accumulate.
      await connection.run('DELETE FROM cold.main.moved');
      await connection.run(`INSERT INTO cold.main.moved VALUES (${segment.number}, ${segment.lastSeq})`);
      await this.#segments.readsBefore(segment.lastSeq);
      await connection.run('COMMIT');
    });
    this.#segments.retire(segment, canBeRead);
    for (const [one, isRead] of canBeRead) {
      const message = isRead ? quarantineMessage(one.path) : unreadableMessage(one.path);
      this.#logger.error({ file: one.path }, message);
      this.#healthIssues.set(`segment ${one.number}`, message);
    }
    if (++this.#compactions % FOLD_EVERY === 0) await this.#cold.foldSums();
    // Waiting segments have priority.
    if (this.#segments.sealed.length < ACCELERATE_AT) await this.#cold.mergeLogs();
    await this.#cold.checkpoint();
  }

  /** Retries the compaction of a quarantined segment. */
  async #compactQuarantined(): Promise<void> {
    const segment = this.#late.shift();
    if (segment === undefined || !this.#segments.quarantined.includes(segment)) return;
    const others = this.#segments.quarantined.filter((other) => other !== segment);
    try {
      await this.between(async () => {
        await this.#transaction(async () => {
          await this.#copy(segment, true);
          await noteReplacedInQuarantine(this.#connection, segment, others);
          await forgetQuarantine(this.#connection, segment.number);
          // Running reads read its rows from the segment, although they expect all commits of its range in the cold file.
          await this.#segments.withoutReadsIfSoon(async () => {
            await this.#connection.run('COMMIT');
            this.#segments.retire(segment);
          });
        });
        await this.#cold.checkpoint();
      });
      this.#healthIssues.set(`segment ${segment.number}`, null);
      this.#logger.info({ file: segment.path }, 'A quarantined segment was compacted.');
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.#logger.error(
        { err: error, file: segment.path },
        'A quarantined segment still cannot be compacted.',
      );
      await this.#cold.attachAfter(error);
    }
  }

  /** @param work must commit */
  async #transaction(work: () => Promise<void>): Promise<void> {
    await this.#connection.run('BEGIN');
    try {
      await work();
    } catch (error) {
      await this.#connection.run('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  /** @param isAnyQuarantined whether any segment is quarantined */
  async #copy(segment: Segment, isAnyQuarantined: boolean): Promise<void> {
    const breathe = (): Promise<void> => this.#breathe();
    await copySegment(this.#connection, segment, {
      bound: this.#segments.oldestBound,
      isAnyQuarantined,
      breathe,
    });
  }

  /** Checkpoints the log of the cold file. After a failure the log only grows until the next checkpoint. */
  async checkpoint(): Promise<void> {
    await this.between(() => this.#cold.checkpoint());
  }

  /** Called between two slices. @throws if the compaction must be aborted */
  async #breathe(): Promise<void> {
    if (this.#segments.sealed.length < ACCELERATE_AT) await this.#pause(PAUSE_MS);
    this.#stop.signal.throwIfAborted();
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }
}
