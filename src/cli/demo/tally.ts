import type { BatchBody } from './body.js';
import type { BatchReceipt } from './poster.js';

/** Counts what was sent, and how much of it was accepted. */
export class Tally {
  readonly agents = new Set<string>();
  /** Accepted ones; one that was reported in pieces counts each time. */
  runs = 0;
  spans = 0;
  rejected = 0;
  /** Why the first rejected run was rejected. */
  firstError: string | undefined;
  /** The last failed run that was sent: the first thing to look at. */
  failedTraceId: string | undefined;

  add(batch: BatchBody, receipt: BatchReceipt): void {
    for (const { trace, spans } of batch.traces) {
      this.agents.add(trace.agent);
      this.spans += spans.length;
      if (trace.status === 'failed') this.failedTraceId = trace.trace_id;
    }
    this.runs += receipt.accepted;
    this.rejected += receipt.rejected;
    this.firstError ??= receipt.errors[0]?.error;
  }
}
