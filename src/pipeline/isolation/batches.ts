import { ConsumeError, type ConsumeErrorCode } from '../../component/consume-error.js';
import type { ConsumeContext } from '../../component/consumer.js';
import type { Clock } from '../../component/telemetry.js';

const CODES: ReadonlySet<unknown> = new Set([
  'overloaded',
  'shutting_down',
  'storage_unavailable',
  'store_damaged',
  'quota_exceeded',
  'storage_exceeded',
  'rate_limited',
  'validation_failed',
  'internal_error',
] satisfies ConsumeErrorCode[]);

/** The problem of a batch from a plugin; undefined if it is valid. The contents of items are not checked. */
export function problemOfBatch(given: unknown): string | undefined {
  if (typeof given !== 'object' || given === null) return 'is not an object';
  const { tenant, items } = given as { readonly tenant?: unknown; readonly items?: unknown };
  if (typeof tenant !== 'string' || tenant === '') return 'has no tenant';
  if (!Array.isArray(items)) return 'has no list of items';
  const index = items.findIndex((item) => typeof item !== 'object' || item === null);
  return index < 0 ? undefined : `has an item ${index} that is not an object`;
}

/** A plugin's context, completed with the fields that the program relies on. */
export function contextOf(given: unknown, clock: Clock): ConsumeContext {
  const context = (typeof given === 'object' && given !== null ? given : {}) as Partial<ConsumeContext>;
  return Number.isSafeInteger(context.receivedAt)
    ? (context as ConsumeContext)
    : { ...context, receivedAt: clock.now() };
}

/** Converts a `ConsumeError` of a plugin that bundles its own copy of the class; undefined for other errors. */
export function asConsumeError(error: unknown): ConsumeError | undefined {
  if (error instanceof ConsumeError) return error;
  if (!(error instanceof Error) || error.name !== 'ConsumeError') return undefined;
  const { code, retryable, retryAfterMs, detail } = error as Partial<ConsumeError>;
  if (!CODES.has(code) || code === undefined || typeof retryable !== 'boolean') return undefined;
  return new ConsumeError(error.message, {
    code,
    retryable,
    ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}),
    ...(typeof detail === 'string' ? { detail } : {}),
    cause: error,
  });
}
