import type { BatchBody } from './body.js';
import type { BatchReceipt } from './batch-sender.js';

/** Counts what was sent and what became of it. */
export class Tally {
  readonly #agents = new Set<string>();
  #runs = 0;
  #spans = 0;
  #rejected = 0;
  #firstError: string | undefined;
  #failedTraceId: string | undefined;

  add(batch: BatchBody, receipt: BatchReceipt): void {
    for (const { trace, spans } of batch.traces) {
      this.#agents.add(trace.agent);
      this.#spans += spans.length;
      if (trace.status === 'failed') this.#failedTraceId = trace.trace_id;
    }
    this.#runs += receipt.accepted;
    this.#rejected += receipt.rejected;
    this.#firstError ??= receipt.errors[0]?.error;
  }

  get agents(): number {
    return this.#agents.size;
  }

  /** Accepted ones; one that was reported in pieces counts each time. */
  get runs(): number {
    return this.#runs;
  }

  get spans(): number {
    return this.#spans;
  }

  get rejected(): number {
    return this.#rejected;
  }

  /** Why the first rejected run was rejected. */
  get firstError(): string | undefined {
    return this.#firstError;
  }

  /** The last failed run that was sent: the first thing to look at. */
  get failedTraceId(): string | undefined {
    return this.#failedTraceId;
  }
}
