// Labels of prompts: names such as `production` for the version, or the shares of versions, that programs should use.

import { createHash } from 'node:crypto';
import type { Micros } from '../../signal/time.js';
import type { ChangedBy, PromptVersion } from './prompts.js';

/** The label of the newest version, which cannot be moved. */
export const LATEST = 'latest';

/** Limits: labels and remembered moves per user, versions that a label can serve. */
export const MOST_LABELS = 1000;
export const MOST_MOVES = 10_000;
export const MOST_TARGETS = 10;

/** A version that a label serves. */
export interface LabelTarget {
  readonly version: number;
  /** A positive integer; the share is the weight divided by the sum of all weights. */
  readonly weight: number;
}

/** Ascending by version, not empty. */
export type LabelTargets = readonly LabelTarget[];

interface LabelChange {
  /** Name of the prompt. */
  readonly name: string;
  readonly label: string;
  /** Increases with each change in the store. */
  readonly revision: number;
  readonly moved_at: Micros;
  /** The key that moved it; null if authentication is off, or for `latest`. */
  readonly key_id: string | null;
  readonly key_name: string | null;
}

/** A label and what it serves since its last move. */
export interface PromptLabel extends LabelChange {
  readonly targets: LabelTargets;
}

/** A change of a label. */
export interface LabelMove extends LabelChange {
  /** Null if the label was new. */
  readonly from: LabelTargets | null;
  /** Null if the label was removed. */
  readonly to: LabelTargets | null;
}

/** The state that a caller expects: a revision, any, none, or null for no expectation. */
export type ExpectedLabel = number | 'any' | 'none' | null;

/** A requested move. */
export interface NewMove {
  readonly name: string;
  readonly label: string;
  /** Null removes the label. */
  readonly to: LabelTargets | null;
  readonly expected: ExpectedLabel;
}

export type MoveResult =
  | { readonly kind: 'moved' | 'unchanged'; readonly label: PromptLabel }
  | { readonly kind: 'removed' }
  /** The label is not as expected. */
  | { readonly kind: 'stale'; readonly current: PromptLabel | null }
  | { readonly kind: 'no_prompt' | 'no_label' }
  | { readonly kind: 'no_version'; readonly version: number };

/** Which version of a prompt to read. */
export type WantedVersion =
  | { readonly kind: 'version'; readonly version: number }
  /** @see chooseTarget for the session */
  | { readonly kind: 'label'; readonly label: string; readonly sessionId: string | null };

export type FoundPrompt =
  | { readonly kind: 'found'; readonly prompt: PromptVersion }
  | { readonly kind: 'no_prompt' }
  /** The labels that the prompt has, without `latest`. */
  | { readonly kind: 'no_version' | 'no_label'; readonly labels: readonly string[] };

/** Moves after a position, in order; the position follows the last of them. */
export interface FollowedMoves {
  readonly moves: readonly (LabelMove & { readonly userId: string })[];
  readonly position: number;
  /** Whether more moves follow. */
  readonly hasMore: boolean;
}

/**
 * Labels of users' prompts. User ids are accepted in upper and lower case. Every method may throw a `ConsumeError` with
 * `storage_unavailable` (retryable).
 */
export interface PromptLabels {
  /**
   * Sets, moves or removes a label. Writes the event `prompt.label.moved` in the same transaction, if it is subscribed to. Durable when
   * it resolves. A move to the same targets changes nothing.
   *
   * @throws ConflictError `prompt` if the user has too many labels
   */
  move(userId: string, move: NewMove, by: ChangedBy): Promise<MoveResult>;
  /** Labels of all prompts of a user, by prompt and label, without `latest`. */
  list(userId: string): Promise<readonly PromptLabel[]>;
  /** Labels of a prompt by label, without `latest`. @returns null if the user has no prompt of that name */
  ofPrompt(userId: string, name: string): Promise<readonly PromptLabel[] | null>;
  /**
   * Moves of a prompt's labels, the newest first, among the newest {@link MOST_MOVES} of the user.
   *
   * @param label only its moves; null for those of all but `latest`
   */
  history(
    userId: string,
    name: string,
    page: { readonly label: string | null; readonly offset: number; readonly limit: number },
  ): Promise<{ readonly moves: readonly LabelMove[]; readonly count: number }>;
  find(userId: string, name: string, wanted: WantedVersion): Promise<FoundPrompt>;
  /**
   * Moves of all users, including those of `latest`, which moves when the newest version is created or deleted. Watchers of `prompts`
   * are notified of them.
   *
   * @param after a position; null returns the current position only
   */
  follow(after: number | null): Promise<FollowedMoves>;
}

const HASH_BYTES = 6;

/**
 * The version that a label serves: for a session always the same one while the weights are unchanged, in any process. When a weight
 * grows, only sessions of the other versions change theirs. Without a session, the version with the largest weight, among equal ones
 * the newest.
 */
export function chooseTarget(
  targets: LabelTargets,
  {
    name,
    label,
    sessionId,
  }: { readonly name: string; readonly label: string; readonly sessionId: string | null },
): number {
  if (sessionId === null) return heaviestOf(targets);
  const digest = createHash('sha256').update([name, label, sessionId].join('\0')).digest();
  const share = digest.readUIntBE(0, HASH_BYTES) / 2 ** (8 * HASH_BYTES);
  const total = targets.reduce((sum, { weight }) => sum + weight, 0);
  let end = 0;
  for (const { version, weight } of targets) {
    end += weight;
    if (share < end / total) return version;
  }
  return heaviestOf(targets);
}

/** The version with the largest weight, among equal ones the newest. */
export function heaviestOf(targets: LabelTargets): number {
  return targets.reduce((heaviest, each) => (each.weight >= heaviest.weight ? each : heaviest)).version;
}
