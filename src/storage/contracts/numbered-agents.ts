import type { Micros } from '../../signal/time.js';

/** A name under which runs of a user are counted. */
export interface NumberedAgent {
  readonly tenant: number;
  /** From 1, unlike that of any other name of any user. */
  readonly number: number;
  /** UUIDv7 */
  readonly id: string;
  readonly name: string;
  /**
   * When the agent came into being. Null while it is only named by runs whose agent may still turn out to be another one
   * (`src/runs/README.md`, "Runs that nobody declared"), or that are no agent's.
   */
  readonly created_at: Micros | null;
}

/** What a run says of its agent. */
export interface NamedAgent {
  readonly tenant: number;
  readonly name: string;
  /** When it came. */
  readonly at: Micros;
  /** Whether the run is an agent's and certainly belongs to this one, so that the agent comes into being. */
  readonly comesIntoBeing: boolean;
}

/** The name under which runs are counted whose user has no room for the agent that they name. */
export const OTHER_AGENTS = '(other)';

/**
 * Numbers and ids for the names of agents, where a store of telemetry that several processes write to has no place of its own that could
 * give a name to only one of them. Numbers, ids and names are never changed and never removed. A name has one number, whether it is an
 * agent's or not. Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface NumberedAgents {
  /**
   * The agents that runs name, in the order of the runs; names that are new are added, and agents come into being. With `most` names a user
   * has no room for more: its further ones are `(other)`, which comes on top.
   *
   * @param store the identity of the store of telemetry
   */
  number(store: string, runs: readonly NamedAgent[], most: number): Promise<readonly NumberedAgent[]>;
  /** All names of a user, in the order of their numbers. */
  ofTenant(store: string, tenant: number): Promise<readonly NumberedAgent[]>;
}
