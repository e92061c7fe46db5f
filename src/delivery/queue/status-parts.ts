import type { Status, StatusLevel } from '../../component/status.js';

/** From the least to the worst. */
const LEVELS: readonly StatusLevel[] = ['ok', 'degraded', 'recoverable', 'permanent', 'fatal'];

/** The status of a component of which several parts report one of their own: the worst counts, and all tell what is wrong. */
export class StatusParts {
  readonly #parts = new Map<string, Status>();
  #report: ((status: Status) => void) | null = null;

  /** @param report what tells the daemon */
  begin(report: (status: Status) => void): void {
    this.#report = report;
  }

  set(part: string, status: Status): void {
    const before = this.#parts.get(part);
    if (before?.level === status.level && before.message === status.message) return;
    // Nobody has to hear that a part works that never said otherwise.
    if (before === undefined && status.level === 'ok') return;
    this.#parts.set(part, status);
    const parts = [...this.#parts.values()].toSorted(
      (a, b) => LEVELS.indexOf(b.level) - LEVELS.indexOf(a.level),
    );
    const level = parts[0]?.level ?? 'ok';
    // One disk may fail for several signals in the same words.
    const messages = new Set(parts.flatMap(({ message }) => message ?? []));
    this.#report?.({ level, ...(messages.size > 0 && { message: [...messages].join(' | ') }) });
  }
}
