import type { EventType } from '../../../signal/event.js';
import type { Micros } from '../../../signal/time.js';
import { DERIVED } from '../../../runs/rules/derived.js';
import { TRACES } from '../../schema/tables.js';
import { timesOutAt } from '../../../runs/rules/following-header.js';
import { lastHeard } from './last-heard.js';
import type { Read } from '../segments/read.js';
import { newest } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { RUNNING, type HeaderRow } from '../../../runs/rules/rows.js';

/**
 * Between two checks the clock goes on by some seconds; if by more than this, it has jumped or the machine has slept. A smaller
 * jump does little harm: a run that timed out goes on with its next span.
 */
const LARGEST_STEP: Micros = 2 * 3_600_000_000;
/** Older ones are joined. */
const MOST = 8;

/**
 * Times that do not count as silence, because nobody could send anything or the clock only seemed to go on: the daemon was down,
 * the machine slept, or its clock was put ahead.
 */
class Pauses {
  /** Oldest first. What came up to `until` came before the pause. */
  readonly #known: { until: Micros; length: Micros }[] = [];

  /**
   * @param from the last time known before it
   * @param to when it was over
   */
  add(from: Micros, to: Micros): void {
    if (to <= from) return;
    this.#known.push({ until: from, length: to - from });
    const [first, second] = this.#known;
    if (this.#known.length <= MOST || first === undefined || second === undefined) return;
    // What came between the two is given more time than it should have.
    this.#known.splice(0, 2, { until: second.until, length: first.length + second.length });
  }

  /** Takes the times of two consecutive checks. */
  look(last: Micros, now: Micros): void {
    if (now - last > LARGEST_STEP) this.add(last, now);
  }

  /** An expression for a time plus the pauses that came after it. @param time an SQL expression, in microseconds */
  longer(time: string): string {
    const added = this.#known.map(
      ({ until, length }) => `CASE WHEN ${time} <= ${until} THEN ${length} ELSE 0 END`,
    );
    return [time, ...added].join(' + ');
  }
}

/** A run of which nothing came for longer than its header allows, as it was stored at that time. */
export interface IdleRun {
  readonly tenant: number;
  readonly traceId: string;
  /** The commit of its newest header. */
  readonly seq: number;
}

/** For each user, the types of events that somebody wants of its telemetry. */
export type WantedOfTenants = ReadonlyMap<number, readonly EventType[]>;

/**
 * Finds runs that have to time out because nothing more came. The tables say which runs are open and when each was last heard of;
 * memory only knows from which commit on there are such runs, and before which time none is due. So the tables are not read while
 * nothing can be due, and only few rows when something is.
 */
export class IdleRuns {
  /** Open runs have their newest header in this commit or a later one; Infinity: there are none. */
  #fromSeq = 0;
  /** No open run is due before this time. */
  #dueAt: Micros = -Infinity;
  readonly #pauses = new Pauses();
  /** When the tables were last read; null: not yet. */
  #lookedAt: Micros | null = null;

  /** Takes every header that was committed. */
  written(seq: number, header: HeaderRow, heardAt: Micros): void {
    const dueAt = timesOutAt(header, heardAt);
    if (dueAt === null) return;
    this.#fromSeq = Math.min(this.#fromSeq, seq);
    this.#dueAt = Math.min(this.#dueAt, dueAt);
  }

  /** @returns runs that are due, at most `limit`, so perhaps not all of them */
  async find(now: Micros, limit: number, read: Read): Promise<IdleRun[]> {
    if (this.#lookedAt !== null) {
      this.#pauses.look(this.#lookedAt, now);
      this.#lookedAt = now;
    }
    if (now < this.#dueAt) return [];
    const [fromSeq, dueAt] = [this.#fromSeq, this.#dueAt];
    // Before the read begins: {@link written} says what is committed from here on.
    this.#fromSeq = Infinity;
    this.#dueAt = Infinity;
    try {
      return await read(async (connection, capture) => {
        if (this.#lookedAt === null) {
          // Nobody could send anything between the last news that an earlier process stored and now.
          this.#pauses.add((await lastHeard(connection, capture)) ?? now, now);
          this.#lookedAt = now;
        }
        const open = openRuns(capture, fromSeq, this.#pauses);
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

/** A relation of the open runs that may time out, as `timesOutAt` says, with `due_at` in microseconds. */
function openRuns(capture: Capture, fromSeq: number, pauses: Pauses): string {
  const from = Number.isFinite(fromSeq) ? `seq >= ${fromSeq}` : 'FALSE';
  const where = `${from} AND status = ${RUNNING} AND (derived & ${DERIVED.status}) <> 0 AND idle_timeout_ms IS NOT NULL`;
  const due = `${pauses.longer('epoch_us(heard_at)')} + idle_timeout_ms * 1000`;
  return `(SELECT tenant, trace_id, seq, ${due} AS due_at FROM ${newest(capture, TRACES, where)})`;
}
