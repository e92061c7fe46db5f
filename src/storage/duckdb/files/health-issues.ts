import type { Status } from '../../../component/status.js';

/** A problem, and whether the store still does its work. */
export interface HealthIssue {
  readonly level: Extract<Status['level'], 'degraded' | 'recoverable'>;
  readonly message: string;
}

/** Current problems of a working store that operators should know of; every change is reported. */
export class HealthIssues {
  readonly #known = new Map<string, HealthIssue>();
  readonly #changed: (healthIssues: readonly HealthIssue[]) => void;

  /** @param changed called with all current issues; with an empty list when all are cleared */
  constructor(changed: (healthIssues: readonly HealthIssue[]) => void) {
    this.#changed = changed;
  }

  /**
   * @param about names the problem
   * @param message null to clear it
   * @param level recoverable: writes are refused meanwhile
   */
  set(about: string, message: string | null, level: HealthIssue['level'] = 'degraded'): void {
    if ((this.#known.get(about)?.message ?? null) === message) return;
    if (message === null) this.#known.delete(about);
    else this.#known.set(about, { level, message });
    this.#changed([...this.#known.values()]);
  }
}
