import type { ConsumeContext, Receipt } from '../../component/consumer.js';
import type { LogsBatch, MetricsBatch, TracesBatch } from '../../signal/batch.js';

/**
 * Takes telemetry in. Each call resolves after the commit: what it accepted survives the end of the process, and is read by whoever asks
 * afterwards. What is new of a batch is counted and what depends on stored rows is settled in the same commit, so that no answer shows one
 * without the other. What is written is read before the call returns: the caller may change or drop the batch while it waits.
 *
 * The writes of a user take effect in the order of their calls. Only by quotas a store that other processes write to, too, judges what comes
 * at the same time in whichever order, and may tell some of it to wait for the rest (`overloaded`). Whoever did not get an answer sends the
 * same again: spans and runs of it that were stored change nothing and are counted once; points and log records are stored twice.
 *
 * Every method may throw a `ConsumeError`: `storage_unavailable` or `overloaded` (retryable; nothing of the batch was stored, or, where the
 * answer was lost, all of it), and `quota_exceeded` with how the quota stands (nothing of the batch was stored).
 */
export interface TelemetryWriter {
  /** Stores what is new of a batch, by the rules of `src/runs`. */
  traces(batch: TracesBatch, context: ConsumeContext): Promise<Receipt>;
  /** Points of a new metric are refused, one by one, where the user has too many. */
  metrics(batch: MetricsBatch, context: ConsumeContext): Promise<Receipt>;
  logs(batch: LogsBatch, context: ConsumeContext): Promise<Receipt>;
}
