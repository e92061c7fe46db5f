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

/** The pause after a slice: among the measured ones the one that disturbs acknowledgements least. */
const PAUSE_MS = 20;
/** With this many sealed segments waiting the compactor makes no pauses: then memory matters more than smoothness. */
const HURRY_AT = 3;
/** The wait after a failed try. */
const RETRY_MS = 5000;
/** The wait after one that met a damaged block, which only a restart with other files ends. */
const DAMAGED_RETRY_MS = 60_000;
/** How often to try again to move a segment that was quarantined. */
const LATE_EVERY_MS = 600_000;
/** After this many failures the next segment gets a try. */
const TRIES = 5;
/**
 * Segments that are quarantined keep their rows in memory: once there are this many, all others wait for one that cannot be moved.
 */
const MOST_ASIDE = 16;
/** After this many moves the parts of sums in the cold file are put together. */
const FOLD_EVERY = 8;

/** Paces that tests set, to reach what otherwise comes late. */
export interface CompactionPace {
  readonly retryMs: number;
  readonly lateEveryMs: number;
}

interface Parts {
  readonly segments: Segments;
  readonly healthIssues: HealthIssues;
  readonly damage: Damage;
  readonly logger: Logger;
  readonly pace?: CompactionPace | undefined;
}

/**
 * Moves sealed segments into the cold file, one after the other, each in one transaction that goes on in small slices. A segment
 * that fails is tried again. When it has failed several times the next one is tried right after it: only where that one can be
 * moved was it the segment's own fault, and not that of the disk or the cold file. The same transaction then notes that the
 * segment is quarantined. It is tried again later, and rows that have replaced its own meanwhile stay.
 */
export class Compactor {
  readonly #connection: Connection;
  readonly #segments: Segments;
  readonly #healthIssues: HealthIssues;
  readonly #logger: Logger;
  readonly #pace: CompactionPace;
  #running: Promise<void> | null = null;
  #compactions = 0;
  readonly #waitingForTry: (() => void)[] = [];
  readonly #cold: ColdUpkeep;
  /** How often each has failed. */
  readonly #failures = new WeakMap<Segment, number>();
  /** Segments that are quarantined and whose turn it is to be tried again. */
  #late: Segment[];
  readonly #lateTimer: NodeJS.Timeout;
  readonly #stop = new AbortController();
  #exclusive: Promise<void> = Promise.resolve();

  /** @param connection the compactor's own */
  constructor(connection: Connection, { segments, healthIssues, damage, logger, pace }: Parts) {
    this.#connection = connection;
    this.#segments = segments;
    this.#healthIssues = healthIssues;
    this.#logger = logger;
    this.#pace = pace ?? { retryMs: RETRY_MS, lateEveryMs: LATE_EVERY_MS };
    this.#cold = new ColdUpkeep(connection, {
      segments,
      logger,
      damage,
      stop: this.#stop.signal,
      breathe: () => this.#breathe(),
      pause: () => this.#pause(this.#pace.retryMs),
    });
    this.#late = [...segments.quarantined];
    this.#lateTimer = setInterval(() => {
      this.#late = [...segments.quarantined];
      this.wake();
    }, this.#pace.lateEveryMs).unref();
  }

  /** Blocks of log records that were merged with others since the start. */
  get mergedBlocks(): number {
    return this.#cold.mergedBlocks;
  }

  /** Says that there may be something to move. */
  wake(): void {
    if (this.#hasWork) this.#running ??= this.#run();
  }

  /** Does work on the cold file between two moves. */
  async between<T>(work: (connection: Connection) => Promise<T>): Promise<T> {
    const turn = this.#exclusive.then(() => {
      // Its connection is about to be closed, and a statement on a closed one would end the process.
      this.#stop.signal.throwIfAborted();
      return work(this.#connection);
    });
    this.#exclusive = turn.then(
      () => undefined,
      () => undefined,
    );
    return await turn;
  }

  /** Waits until nothing is left to move, which may never be. For tests and measurements. */
  async settled(): Promise<void> {
    await this.#running;
  }

  /** Waits until nothing is left to move, or something could not be moved. */
  async tried(): Promise<void> {
    const failed = new Promise<void>((resolve) => this.#waitingForTry.push(resolve));
    await Promise.race([this.#running, failed]);
  }

  /** Gives up the move under way: nothing of it is visible, and the next start begins it anew. */
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
    // In the step in which nothing more was found, so that whoever wakes it next finds it idle.
    this.#running = null;
    for (const tell of this.#waitingForTry.splice(0)) tell();
  }

  /** Moves the first sealed segment, or the first one behind others that have failed too often. */
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
        // Damage is no passing trouble, and `Damage` repeats in the log that it is there.
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
        if (failures < TRIES || this.#segments.quarantinedCount + stuck.length > MOST_ASIDE) break;
      }
    }
    for (const tell of this.#waitingForTry.splice(0)) tell();
    await this.#pause(isDamaged ? DAMAGED_RETRY_MS : this.#pace.retryMs);
  }

  /** @param stuck segments that are quarantined with this move, because they come before it and cannot be moved */
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
      // Replaces the note of the move before: rows that are kept for ever would be read at every start.
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
    // What waits to be moved goes first.
    if (this.#segments.sealed.length < HURRY_AT) await this.#cold.mergeLogs();
    await this.#cold.checkpoint();
  }

  /** Moves a segment that was quarantined, if that is possible by now. */
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
          // Running reads look for its rows in the segment, although they expect all commits of its time in the cold file.
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

  /** @param work which commits */
  async #transaction(work: () => Promise<void>): Promise<void> {
    await this.#connection.run('BEGIN');
    try {
      await work();
    } catch (error) {
      await this.#connection.run('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  /** @param isAnyQuarantined whether segments are left out */
  async #copy(segment: Segment, isAnyQuarantined: boolean): Promise<void> {
    const breathe = (): Promise<void> => this.#breathe();
    await copySegment(this.#connection, segment, {
      bound: this.#segments.oldestBound,
      isAnyQuarantined,
      breathe,
    });
  }

  /** Takes what the cold file's log holds into the file. A failure only lets the log grow until the next time. */
  async checkpoint(): Promise<void> {
    await this.between(() => this.#cold.checkpoint());
  }

  /** Between two slices. @throws when the move has to be given up */
  async #breathe(): Promise<void> {
    if (this.#segments.sealed.length < HURRY_AT) await this.#pause(PAUSE_MS);
    this.#stop.signal.throwIfAborted();
  }

  async #pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.#stop.signal }).catch(() => undefined);
  }
}
