import type { Status } from '../../../component/status.js';

/** A problem, and whether the store still does its work. */
export interface HealthIssue {
  readonly level: Extract<Status['level'], 'degraded' | 'recoverable'>;
  readonly message: string;
}

/** Problems that somebody should see although the store works, each in words, passed on whenever they change. */
export class HealthIssues {
  readonly #known = new Map<string, HealthIssue>();
  readonly #changed: (healthIssues: readonly HealthIssue[]) => void;

  /** @param changed is called with all current ones; with none when all is well again */
  constructor(changed: (healthIssues: readonly HealthIssue[]) => void) {
    this.#changed = changed;
  }

  /**
   * @param about names the problem
   * @param message null when it is over
   * @param level recoverable: what is sent is refused meanwhile
   */
  set(about: string, message: string | null, level: HealthIssue['level'] = 'degraded'): void {
    if ((this.#known.get(about)?.message ?? null) === message) return;
    if (message === null) this.#known.delete(about);
    else this.#known.set(about, { level, message });
    this.#changed([...this.#known.values()]);
  }
}
