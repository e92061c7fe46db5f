// Scores of runs: conditions on them, and what is computed from them.

import type { Dimension } from '../../signal/run-context.js';
import type { Micros } from '../../signal/time.js';

/** Comparisons of the value of a score. */
export const SCORE_OPERATORS = ['<', '<=', '>', '>=', '=', '!='] as const;
export type ScoreOperator = (typeof SCORE_OPERATORS)[number];

/**
 * A condition on the scores of a run, of its spans and of their responses, by the exact name of a score. A run meets `value`, `label` and
 * `any` if one of its scores does, and `none` if it has no such score.
 */
export type ScoreCondition =
  | {
      readonly kind: 'value';
      readonly name: string;
      readonly operator: ScoreOperator;
      readonly value: number;
    }
  | {
      readonly kind: 'label';
      readonly name: string;
      readonly operator: '=' | '!=';
      readonly label: string;
    }
  | { readonly kind: 'any' | 'none'; readonly name: string };

export const SCORE_GROUPS = [
  'agent',
  'model',
  'prompt_version',
  'environment',
  'release',
  'agent_version',
] as const;
type ScoreGrouping = (typeof SCORE_GROUPS)[number];

/** Maximum number of groups: those with the most scores. */
export const MOST_SCORE_GROUPS = 200;
/** Maximum number of labels of a group: the most frequent. */
export const MOST_LABELS = 10;
/** Maximum number of names listed for a run. */
export const MOST_SCORE_NAMES = 20;

/** Selects scores by their runs. Counts only runs of agents, by start. Dimensions match exactly. */
export interface ScoreRequest extends Readonly<Partial<Record<Dimension, string>>> {
  /** The exact name of the scores. Absent: all names, each separately. */
  readonly name?: string;
  readonly agent_id?: string;
  /** Runs that used this prompt. */
  readonly prompt?: string;
  /** Included. Absent: from the first run. */
  readonly start_time?: Micros;
  /** Not included. Absent: to the last run. */
  readonly end_time?: Micros;
  /**
   * Absent: one group per name. `model`: the model of the judged span; if the score judges a run or a span without a model, each model of
   * the run. `prompt_version` requires {@link prompt}. A score may be in several of these groups.
   */
  readonly group_by?: ScoreGrouping;
  /** Width of the buckets, which begin at multiples of it since 1970. Absent: no buckets. */
  readonly interval?: Micros;
}

/** Statistics of some scores, each counted once in its newest form. */
export interface ScoreTotals {
  readonly scores: number;
  /** Number with a value. */
  readonly values: number;
  /** Over the values, to 12 significant digits so that their order does not matter; null without values. */
  readonly mean: number | null;
  readonly min: number | null;
  readonly max: number | null;
}

/** The scores of one name in one group. */
export interface ScoreGroup extends ScoreTotals {
  readonly name: string;
  /** If grouped by agent. */
  readonly agent: { readonly id: string; readonly name: string } | null;
  /** The model, version or environment; null for runs without one, and without such a grouping. */
  readonly key: string | null;
  /** By frequency, then by name. */
  readonly labels: readonly { readonly label: string; readonly scores: number }[];
  /** Non-empty buckets in order. */
  readonly buckets: readonly (ScoreTotals & { readonly start: Micros })[];
}

/** The scores of one name of a run, of its spans and of their responses. */
export interface ScoreOfRun {
  readonly trace_id: string;
  readonly name: string;
  readonly scores: number;
  /** As in {@link ScoreTotals}. */
  readonly mean: number | null;
  /** The latest label. */
  readonly label: string | null;
}

/**
 * Statistics of scores, exact, over the runs stored now; in a multi-node engine they may lag by some seconds. May throw a `ConsumeError`
 * with `storage_unavailable` or `overloaded` (retryable).
 */
export interface Scores {
  /** The groups with the most scores first, then by name. */
  groups(userId: string, request: ScoreRequest, abort?: AbortSignal): Promise<readonly ScoreGroup[]>;
  /**
   * The scores of some runs by name, at most {@link MOST_SCORE_NAMES} of each run.
   *
   * @param traceIds 100 at most
   */
  ofRuns(userId: string, traceIds: readonly string[], abort?: AbortSignal): Promise<readonly ScoreOfRun[]>;
}
