import type { AgentDay } from '../../contracts/runs.js';
import type { CountedRun, RunChanges } from './counted-run.js';
import { RunCells } from './run-cells.js';

/** Stats computed from the tables, cached until a commit touches them. */
export class CachedStats implements RunChanges {
  readonly days = new RunCells<AgentDay>();
  readonly cells = new RunCells();

  change(before: CountedRun | null, after: CountedRun): void {
    this.days.change(before, after);
    this.cells.change(before, after);
  }

  /** Forgets everything: runs were removed. */
  clear(): void {
    this.days.clear();
    this.cells.clear();
  }
}
