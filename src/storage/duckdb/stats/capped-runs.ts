import type { Logger } from '../../../component/telemetry.js';
import { MOST_USAGE } from '../../../runs/rules/usage.js';
import type { CountedRun } from './counted-run.js';

/** Counts runs for which more cost was reported than a sum can hold, and logs it once for each user. */
export class CappedRuns {
  readonly #logger: Logger;
  readonly #told = new Set<number>();
  #runs = 0;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Since the start. */
  get runs(): number {
    return this.#runs;
  }

  /** A commit changed a run. @param before null for a new run */
  change(before: CountedRun | null, after: CountedRun): void {
    if (after.cost !== MOST_USAGE || before?.cost === MOST_USAGE) return;
    this.#runs++;
    const { tenant } = after;
    if (this.#told.has(tenant)) return;
    this.#told.add(tenant);
    this.#logger.warn(
      { tenant },
      'The cost of a run was capped at 9007199.254740991 USD, also in sums over runs.',
    );
  }
}
