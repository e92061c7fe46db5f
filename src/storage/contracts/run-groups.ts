// Runs grouped by a field, compared with the period before.

import type { ComparedPeriods, DimensionFilter, Period, RunFilter } from './runs.js';

/** Fields by which runs are grouped. `model` groups model calls instead of runs. */
export const GROUP_FIELDS = [
  'agent',
  'model',
  'user',
  'tag',
  'environment',
  'release',
  'agent_version',
  'repository',
  'prompt_version',
] as const;
export type GroupField = (typeof GROUP_FIELDS)[number];

/** Maximum number of returned groups, and of compared ones. Of more, those with the highest cost are compared. */
export const MOST_GROUPS = 100;
export const MOST_COMPARED_GROUPS = 1000;

/** The order of groups: by cost, or regressions first; each descending. */
export const GROUP_SORTS = ['cost', 'regression'] as const;
export type GroupSort = (typeof GROUP_SORTS)[number];

/** Query for groups. Counts only runs of agents, by start; calls by their own start. */
export interface GroupRequest extends DimensionFilter, Period {
  readonly group_by: GroupField;
  readonly agent_id?: string;
  /** Further conditions on the runs; ignored for groups of model calls. */
  readonly filter?: Omit<RunFilter, 'agent_id' | 'kind' | 'start_time' | 'end_time'>;
  readonly sort: GroupSort;
  readonly limit: number;
}

/** What got worse than in the period before: more failures, fewer successes, a higher cost per run, longer runs. */
export const REGRESSIONS = ['failures', 'success', 'cost', 'duration'] as const;
export type Regression = (typeof REGRESSIONS)[number];

export interface RunGroup extends ComparedPeriods {
  /** The value of the field: an agent by its id, a prompt version by its number. Null: runs without a value. */
  readonly key: string | null;
  /** The name of the agent or prompt. */
  readonly name: string | null;
  readonly regressions: readonly Regression[];
}

export interface FoundGroups extends ComparedPeriods {
  /** Groups with runs in either period. */
  readonly groups: readonly RunGroup[];
  /** Number of all groups. */
  readonly count: number;
  /** The runs in no returned group, without percentiles. Null if there are none, or if a run may be in several groups. */
  readonly others: ComparedPeriods | null;
}

/**
 * Groups of runs, exact, by each run's newest version. May throw a `ConsumeError` with `storage_unavailable` or `overloaded`
 * (retryable).
 */
export interface RunGroups {
  read(userId: string, request: GroupRequest, abort?: AbortSignal): Promise<FoundGroups>;
}
