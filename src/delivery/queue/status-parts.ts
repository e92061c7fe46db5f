import type { Status, StatusLevel } from '../../component/status.js';

/** From the least to the worst. */
const LEVELS: readonly StatusLevel[] = ['ok', 'degraded', 'recoverable', 'permanent', 'fatal'];

/** Merges the statuses of several parts into one of the component: the worst level counts, with the messages of all. */
export class StatusParts {
  readonly #parts = new Map<string, Status>();
  #report: ((status: Status) => void) | null = null;

  /** @param report sends a status to the daemon */
  begin(report: (status: Status) => void): void {
    this.#report = report;
  }

  set(part: string, status: Status): void {
    const before = this.#parts.get(part);
    if (before?.level === status.level && before.message === status.message) return;
    // A part that never reported a problem does not report that it works.
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
