import { LRUCache } from 'lru-cache';
import type { SpanRecord } from '../../signal/span.js';

/** Limit of the memory for failed parts, in characters of their errors. */
const MAX_SIZE = 4 * 1024 * 1024;
/** Added to the size of each part. */
const SIZE_OF_PART = 300;

type Failure = Pick<SpanRecord, 'status' | 'error_message'>;

/** A failure of a part. */
export interface FailedPart {
  /** The user's UUID. */
  readonly tenant: string;
  readonly parentId: string;
  readonly failure: Failure;
}

/**
 * Failures of parts (`failedParts` of a convention) without their parent in the request. A part ends before its parent, so its request
 * comes first. A failure that is evicted, or lost at a restart, is shown on the part only.
 */
export class FailedParts {
  readonly #failures = new LRUCache<string, FailedPart>({
    maxSize: MAX_SIZE,
    sizeCalculation: ({ failure }) => SIZE_OF_PART + (failure.error_message?.length ?? 0),
  });
  /** Called with each added failure. */
  onAdd: ((part: FailedPart) => void) | undefined;

  /** @param tenant the user's UUID */
  add(tenant: string, parentId: string, { status, error_message }: Failure): void {
    const part = { tenant, parentId, failure: { status, error_message } };
    this.set(part);
    this.onAdd?.(part);
  }

  /** Adds a failure from elsewhere. */
  set(part: FailedPart): void {
    this.#failures.set(`${part.tenant} ${part.parentId}`, part);
  }

  /** All failures, the oldest first. */
  all(): readonly FailedPart[] {
    return [...this.#failures.rvalues()].flatMap((part) => part ?? []);
  }

  /** Fails a span if one of its parts has failed. The failure is kept, because a request may be mapped again. */
  apply(tenant: string, span: SpanRecord): void {
    const part = this.#failures.get(`${tenant} ${span.span_id}`);
    if (part !== undefined) failWith(span, part.failure);
  }
}

/** Gives a completed span the failure of its part. */
export function failWith(span: SpanRecord, { status, error_message }: Failure): void {
  if (span.status !== 'completed') return;
  span.status = status;
  span.error_message = error_message;
}
