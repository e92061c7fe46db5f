// Prompts in versions, and the runs that used them.

import { ROW_BYTES } from './telemetry-writer.js';
import type { Micros } from '../../signal/time.js';
import type { Usd } from '../../signal/money.js';

/** One version of a prompt. Name and version together are its user's only ones. */
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

/** What a version of a prompt is called in rows of telemetry. */
export interface NumberedVersion {
  /** From 1, and no other version of any user has it. */
  readonly number: number;
  readonly version: number;
}

/** How telemetry names a version of a prompt. */
export interface NamedVersion {
  readonly name: string;
  readonly version: number;
}

/** A part of a list: all of it may be many megabytes. */
export interface PromptPage {
  readonly prompts: readonly PromptVersion[];
  /** Where the list goes on; null at its end. Opaque. */
  readonly next: string | null;
}

/** Versions of prompts that a user can have, and the bytes of their names, templates and descriptions in UTF-8. */
export const MOST_VERSIONS = 10_000;
export const MOST_TEXT_BYTES = 64 * 1024 * 1024;

/** What a version takes. */
export function promptBytes({ name, template_text, description }: PromptVersion): number {
  return ROW_BYTES.prompt + Buffer.byteLength(name + template_text + (description ?? ''));
}

/**
 * The prompts of users. They are never changed, and a deleted version is never created again. A list does not show versions created after
 * its first page was read. Users' ids are taken in any case. Every method may throw a `ConsumeError` with `storage_unavailable` (retryable).
 */
export interface Prompts {
  /**
   * Writes the event `prompt.created` in the same transaction, where somebody wants it. Durable when it resolves.
   *
   * @returns the version's number
   * @throws ConflictError `version` where the user has that version of the prompt; `prompt` where a limit of the user is reached, or a
   * version of that number or a later one was deleted
   */
  create(userId: string, prompt: PromptVersion): Promise<number>;
  /**
   * Deletes one version of a prompt, or all. Durable when it resolves.
   *
   * @returns false where the user has no such version
   */
  remove(userId: string, name: string, version: number | null): Promise<boolean>;
  /** All versions of all prompts of a user: by name in the order of its characters, then the newest version first. @param after `next` */
  list(userId: string, after?: string): Promise<PromptPage>;
  /**
   * Names of prompts that have a text in them, each once, in the order of their characters. ASCII letters match in any case.
   *
   * @param limit at most so many
   */
  findNames(userId: string, text: string, limit: number): Promise<readonly string[]>;
  /** Those of one prompt, the newest first. @returns null where the user has no prompt of that name */
  listVersions(userId: string, name: string, after?: string): Promise<PromptPage | null>;
  /** @returns null where the user has no such version */
  findNumber(userId: string, name: string, version: number): Promise<number | null>;
  /** Likewise of several, in their order. */
  findNumbers(userId: string, references: readonly NamedVersion[]): Promise<readonly (number | null)[]>;
  /** @returns those of some numbers that no version has, of any user */
  findDeleted(numbers: readonly number[]): Promise<readonly number[]>;
  /** The newest first; none where the user has no prompt of that name. */
  numbersOf(userId: string, name: string): Promise<readonly NumberedVersion[]>;
}

/** That a trace, or one span of it, used a prompt version. */
export interface PromptLink {
  readonly prompt_name: string;
  readonly prompt_version: number;
  /** UUID */
  readonly trace_id: string;
  /** UUID; null for the trace as a whole. */
  readonly span_id: string | null;
}

/** The figures of a prompt version over the stored traces that used it, each counted once. */
export interface PromptVersionStats {
  readonly version: number;
  readonly total_traces: number;
  readonly success_count: number;
  readonly failure_count: number;
  /** Over the traces that have a cost; not rounded. */
  readonly avg_cost: Usd | null;
  readonly avg_latency_ms: number | null;
  readonly p95_latency_ms: number | null;
}

/**
 * How the runs went that used users' prompts: the prompts themselves are in the control plane. Stats are exact, percentiles too, over the
 * newest headers; in an engine of several machines they may lag behind the writes by some seconds. Every method may throw a `ConsumeError`
 * with `storage_unavailable` or `overloaded` (retryable; nothing was changed).
 */
export interface PromptRuns {
  /**
   * Notes that a trace, which may come later, used a prompt version; the same again changes nothing. Durable when it resolves.
   *
   * @param now when it was made
   * @returns false, and nothing is noted, where the user has no such prompt version
   */
  link(userId: string, link: PromptLink, now: Micros): Promise<boolean>;
  /** The versions of a prompt, the newest first. @returns null where the user has no prompt of that name */
  compare(userId: string, name: string, abort?: AbortSignal): Promise<readonly PromptVersionStats[] | null>;
}
