import type { QuotaUsage } from './consumer.js';

/** Stable words for programs; `http/problem.ts` has the HTTP status for each. */
export type ConsumeErrorCode =
  | 'overloaded'
  | 'shutting_down'
  | 'storage_unavailable'
  | 'store_damaged'
  | 'quota_exceeded'
  | 'storage_exceeded'
  | 'rate_limited'
  | 'validation_failed'
  | 'internal_error';

/**
 * A whole batch was not taken, and nothing of it was stored. Anything else that a consumer throws is treated as a
 * retryable `internal_error`. The refusal of single items is no error: it travels in the {@link Receipt}.
 */
export class ConsumeError extends Error {
  override readonly name = 'ConsumeError';
  readonly code: ConsumeErrorCode;
  /** Whether sending the same batch again may succeed. */
  readonly retryable: boolean;
  /** How long the sender should wait, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Whether it fails until an operator changes something; a queued exporter is then `degraded` at once. */
  readonly needsOperator: boolean;
  /** For `quota_exceeded`: the sender's remaining quota. */
  readonly usage: QuotaUsage | undefined;
  /** Text for the sender in place of the fixed sentence for the code, without any internals. */
  readonly detail: string | undefined;

  constructor(
    message: string,
    options: {
      code: ConsumeErrorCode;
      retryable: boolean;
      retryAfterMs?: number;
      needsOperator?: boolean;
      usage?: QuotaUsage;
      detail?: string;
      cause?: unknown;
    },
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.retryable = options.retryable;
    this.retryAfterMs = options.retryAfterMs;
    this.needsOperator = options.needsOperator ?? false;
    this.usage = options.usage;
    this.detail = options.detail;
  }
}
