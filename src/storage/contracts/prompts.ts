// Versioned prompts, and the runs that used them.

import { ROW_BYTES } from './telemetry-writer.js';
import type { Micros } from '../../signal/time.js';
import type { Usd } from '../../signal/money.js';

/** One version of a prompt, unique per user by name and version. */
export interface PromptVersion {
  /** UUIDv7 */
  readonly id: string;
  /** Any text, as it was sent. */
  readonly name: string;
  /** An integer from 0. */
  readonly version: number;
  readonly template_text: string;
  readonly description: string | null;
  readonly is_active: boolean;
  readonly created_at: Micros;
}

/** The number of a prompt version in telemetry rows. */
export interface NumberedVersion {
  /** From 1, unique over all users. */
  readonly number: number;
  readonly version: number;
}

/** The reference to a prompt version in telemetry. */
export interface NamedVersion {
  readonly name: string;
  readonly version: number;
}

/** A page of a list, which as a whole may be many megabytes. */
export interface PromptPage {
  readonly prompts: readonly PromptVersion[];
  /** Position of the next page; null at the end. Opaque. */
  readonly next: string | null;
}

/** Limits per user: prompt versions, and UTF-8 bytes of their names, templates and descriptions. */
export const MOST_VERSIONS = 10_000;
export const MOST_TEXT_BYTES = 64 * 1024 * 1024;

/** Bytes that a version counts towards the limit. */
export function promptBytes({ name, template_text, description }: PromptVersion): number {
  return ROW_BYTES.prompt + Buffer.byteLength(name + template_text + (description ?? ''));
}

/**
 * Prompts of users. Versions are immutable, and a deleted version is never created again. A list does not show versions created after
 * its first page was read. User ids are accepted in upper and lower case. Every method may throw a `ConsumeError` with
 * `storage_unavailable` (retryable).
 */
export interface Prompts {
  /**
   * Writes the event `prompt.created` in the same transaction, if it is subscribed to. Durable when it resolves.
   *
   * @returns the version's number
   * @throws ConflictError `version` if the version exists; `prompt` if a limit of the user is reached, or this or a later version was
   * deleted
   */
  create(userId: string, prompt: PromptVersion): Promise<number>;
  /**
   * Deletes one version of a prompt, or all. Durable when it resolves.
   *
   * @returns false if the user has no such version
   */
  remove(userId: string, name: string, version: number | null): Promise<boolean>;
  /** All versions of all prompts of a user: by name in character order, then newest version first. @param after `next` */
  list(userId: string, after?: string): Promise<PromptPage>;
  /**
   * Names of prompts that contain a text, without duplicates, in character order. ASCII letters match case-insensitively.
   *
   * @param limit maximum number
   */
  findNames(userId: string, text: string, limit: number): Promise<readonly string[]>;
  /** Versions of one prompt, newest first. @returns null if the user has no prompt of that name */
  listVersions(userId: string, name: string, after?: string): Promise<PromptPage | null>;
  /** @returns null if the user has no such version */
  findNumber(userId: string, name: string, version: number): Promise<number | null>;
  /** The same for several versions, in order. */
  findNumbers(userId: string, references: readonly NamedVersion[]): Promise<readonly (number | null)[]>;
  /** @returns the given numbers that no version of any user has */
  findDeleted(numbers: readonly number[]): Promise<readonly number[]>;
  /** The versions with some numbers, in any order; unknown numbers and those of other users are left out. @param numbers at most a few hundred */
  withNumbers(
    userId: string,
    numbers: readonly number[],
  ): Promise<readonly (NamedVersion & NumberedVersion)[]>;
  /** Newest first; empty if the user has no prompt of that name. */
  numbersOf(userId: string, name: string): Promise<readonly NumberedVersion[]>;
}

/** Records that a trace, or one of its spans, used a prompt version. */
export interface PromptLink {
  readonly prompt_name: string;
  readonly prompt_version: number;
  /** UUID */
  readonly trace_id: string;
  /** UUID; null for the trace as a whole. */
  readonly span_id: string | null;
}

/** Statistics of a prompt version over the stored traces that used it, each counted once. */
export interface PromptVersionStats {
  readonly version: number;
  readonly total_traces: number;
  readonly success_count: number;
  readonly failure_count: number;
  /** Mean over the traces with a cost; not rounded. */
  readonly avg_cost: Usd | null;
  readonly avg_latency_ms: number | null;
  readonly p95_latency_ms: number | null;
}

/**
 * Runs that used users' prompts; the prompts themselves are in the control store. Statistics are exact, including percentiles, over the
 * newest headers; in a multi-node engine they may lag by some seconds. Every method may throw a `ConsumeError` with
 * `storage_unavailable` or `overloaded` (retryable; nothing was changed).
 */
export interface PromptRuns {
  /**
   * Records that a trace, which may arrive later, used a prompt version; repeats change nothing. Durable when it resolves.
   *
   * @param now creation time of the link
   * @returns false, with nothing recorded, if the user has no such prompt version
   */
  link(userId: string, link: PromptLink, now: Micros): Promise<boolean>;
  /** Statistics of the versions of a prompt, newest first. @returns null if the user has no prompt of that name */
  compare(userId: string, name: string, abort?: AbortSignal): Promise<readonly PromptVersionStats[] | null>;
}
