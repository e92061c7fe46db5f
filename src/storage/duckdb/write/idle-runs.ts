import type { EventType } from '../../../signal/event.js';
import type { Micros } from '../../../signal/time.js';
import { AWAITS_ROOT, DERIVED } from '../../../runs/rules/derived.js';
import { TRACES } from '../../schema/tables.js';
import { awaitsRoot, timesOutAt } from '../../../runs/rules/following-header.js';
import { lastSeen } from './last-seen.js';
import type { Read } from '../segments/read.js';
import { newest } from '../segments/relation.js';
import type { Connection } from '../files/connection.js';
import type { Capture } from '../segments/segment.js';
import { RUNNING, type HeaderRow } from '../../../runs/rules/rows.js';

/**
 * Two checks are some seconds apart. A larger step than this means that the clock jumped or the machine slept. A smaller jump does
 * little harm: a timed-out run continues with its next span.
 */
const LARGEST_STEP: Micros = 2 * 3_600_000_000;
/** Older pauses are merged. */
const MOST = 8;

/**
 * Periods that do not count as idle time, because no data could arrive or the clock jumped: the daemon was down, the machine slept,
 * or its clock was set forward.
 */
class Pauses {
  /** Oldest first. Applies to times up to `until`, which are before the pause. */
  readonly #known: { until: Micros; length: Micros }[] = [];

  /**
   * @param from last recorded time before the pause
   * @param to end of the pause
   */
  add(from: Micros, to: Micros): void {
    if (to <= from) return;
    this.#known.push({ until: from, length: to - from });
    const [first, second] = this.#known;
    if (this.#known.length <= MOST || first === undefined || second === undefined) return;
    // Times between the two pauses get a longer extension than necessary.
    this.#known.splice(0, 2, { until: second.until, length: first.length + second.length });
  }

  /** Compares the times of two consecutive checks. */
  look(last: Micros, now: Micros): void {
    if (now - last > LARGEST_STEP) this.add(last, now);
  }

  /** An SQL expression for a time plus all later pauses. @param time an SQL expression, in microseconds */
  longer(time: string): string {
    const added = this.#known.map(
      ({ until, length }) => `CASE WHEN ${time} <= ${until} THEN ${length} ELSE 0 END`,
    );
    return [time, ...added].join(' + ');
  }
}

/** A run that is idle for longer than its header allows, as stored when it was found. */
export interface IdleRun {
  readonly tenant: number;
  readonly traceId: string;
  /** The commit of its newest header. */
  readonly seq: number;
}

/** The subscribed event types of each user. */
export type WantedOfTenants = ReadonlyMap<number, readonly EventType[]>;

/** SQL for a group of open runs: the condition, and how long they wait. */
interface Waiting {
  readonly is: (header: HeaderRow) => boolean;
  readonly where: string;
  readonly waitMs: string;
}

const AWAITS = `(derived & ${AWAITS_ROOT})`;

/**
 * Runs that only lack a root wait for seconds, others for hours. The two are searched separately, so that the frequent search for
 * the former does not read all commits since the oldest open run.
 */
const FOR_A_ROOT: Waiting = {
  is: awaitsRoot,
  where: `${AWAITS} <> 0`,
  waitMs: 'coalesce(orphan_wait_ms, idle_timeout_ms)',
};
const FOR_SPANS: Waiting = {
  is: (header) => !awaitsRoot(header),
  where: `${AWAITS} = 0`,
  waitMs: 'idle_timeout_ms',
};

/**
 * Finds idle runs that must no longer wait. The tables hold the open runs and when each was last seen; memory only holds the first commit
 * with such runs and the earliest time that one is due. So the tables are not read while no run is due, and otherwise only few rows
 * are read.
 */
export class IdleRuns {
  readonly #open = [new OpenRuns(FOR_A_ROOT), new OpenRuns(FOR_SPANS)];
  readonly #pauses = new Pauses();
  /** When the tables were last read; null: not yet. */
  #lookedAt: Micros | null = null;

  /** Receives every committed header. */
  written(seq: number, header: HeaderRow, lastSeenAt: Micros): void {
    const dueAt = timesOutAt(header, lastSeenAt);
    if (dueAt !== null) for (const open of this.#open) open.written(seq, header, dueAt);
  }

  /** @returns up to `limit` due runs */
  async find(now: Micros, limit: number, read: Read): Promise<IdleRun[]> {
    if (this.#lookedAt !== null) {
      this.#pauses.look(this.#lookedAt, now);
      this.#lookedAt = now;
    }
    const found: IdleRun[] = [];
    for (const open of this.#open) {
      if (found.length === limit) break;
      const before = (connection: Connection, capture: Capture) => this.#readBefore(connection, capture, now);
      found.push(...(await open.find(now, limit - found.length, { read, pauses: this.#pauses, before })));
    }
    return found;
  }

  /** Before the first search: no data could arrive between the last write of the previous process and now. */
  async #readBefore(connection: Connection, capture: Capture, now: Micros): Promise<void> {
    if (this.#lookedAt !== null) return;
    this.#pauses.add((await lastSeen(connection, capture)) ?? now, now);
    this.#lookedAt = now;
  }
}

/** A group of open runs. */
class OpenRuns {
  readonly #waiting: Waiting;
  /** The newest header of each run is in this commit or a later one; Infinity without runs. */
  #fromSeq = 0;
  /** No run is due before this time. */
  #dueAt: Micros = -Infinity;

  constructor(waiting: Waiting) {
    this.#waiting = waiting;
  }

  written(seq: number, header: HeaderRow, dueAt: Micros): void {
    if (!this.#waiting.is(header)) return;
    this.#fromSeq = Math.min(this.#fromSeq, seq);
    this.#dueAt = Math.min(this.#dueAt, dueAt);
  }

  async find(
    now: Micros,
    limit: number,
    {
      read,
      pauses,
      before,
    }: {
      readonly read: Read;
      readonly pauses: Pauses;
      readonly before: (connection: Connection, capture: Capture) => Promise<void>;
    },
  ): Promise<IdleRun[]> {
    if (now < this.#dueAt) return [];
    const [fromSeq, dueAt] = [this.#fromSeq, this.#dueAt];
    // Reset before the read begins: {@link written} covers commits from here on.
    this.#fromSeq = Infinity;
    this.#dueAt = Infinity;
    try {
      return await read(async (connection, capture) => {
        await before(connection, capture);
        const open = openRuns(capture, fromSeq, this.#waiting, pauses);
        const [first] = await connection.rows(`SELECT min(seq) AS seq, min(due_at) AS due_at FROM ${open}`);
        if (typeof first?.due_at !== 'number') return [];
        this.#fromSeq = Math.min(this.#fromSeq, Number(first.seq));
        this.#dueAt = Math.min(this.#dueAt, first.due_at);
        if (first.due_at > now) return [];
        const due = await connection.rows(
          `SELECT tenant, trace_id::VARCHAR AS id, seq FROM ${open} WHERE due_at <= ${now} ORDER BY due_at, trace_id LIMIT ${limit}`,
        );
        return due.map((row) => ({
          tenant: Number(row.tenant),
          traceId: String(row.id),
          seq: Number(row.seq),
        }));
      });
    } catch (error) {
      this.#fromSeq = Math.min(this.#fromSeq, fromSeq);
      this.#dueAt = Math.min(this.#dueAt, dueAt);
      throw error;
    }
  }
}

/** A relation of the open runs that may time out (see `timesOutAt`), with `due_at` in microseconds. */
function openRuns(
  capture: Capture,
  fromSeq: number,
  { where: waits, waitMs }: Waiting,
  pauses: Pauses,
): string {
  const from = Number.isFinite(fromSeq) ? `seq >= ${fromSeq}` : 'FALSE';
  const where = `${from} AND status = ${RUNNING} AND (derived & ${DERIVED.status}) <> 0 AND ${waits} AND ${waitMs} IS NOT NULL`;
  const due = `${pauses.longer('epoch_us(heard_at)')} + ${waitMs} * 1000`;
  return `(SELECT tenant, trace_id, seq, ${due} AS due_at FROM ${newest(capture, TRACES, where)})`;
}
