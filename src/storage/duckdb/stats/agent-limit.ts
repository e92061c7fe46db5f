import type { Logger } from '../../../component/telemetry.js';
import type { AgentLimit } from './agents.js';

/** Maximum agents of one user, at some 500 bytes of memory each, with their stats. */
export const MOST_AGENTS = 10_000;

/** Counts headers that are stored under `(other)`, and logs once for each user. */
export class OtherAgents implements AgentLimit {
  readonly most: number;
  readonly #logger: Logger;
  readonly #warned = new Set<number>();
  #runs = 0;

  constructor(most: number, logger: Logger) {
    this.most = most;
    this.#logger = logger;
  }

  /** Headers written with `(other)`, including those of commits that failed. */
  get runs(): number {
    return this.#runs;
  }

  passed(tenant: number): void {
    this.#runs++;
    if (this.#warned.has(tenant)) return;
    this.#warned.add(tenant);
    this.#logger.warn(
      { tenant, max_agents: this.most },
      'A user reached extensions.duckdb.max_agents; runs of further agents are stored under the agent (other). Agent names should not contain ids.',
    );
  }
}
