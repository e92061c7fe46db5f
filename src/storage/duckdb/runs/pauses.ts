import type { Micros } from '../../../signal/time.js';

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
export class Pauses {
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
