import { headerOf } from '../../../../src/runs/rules/header-of-spans.js';
import type { SpanRecord } from '../../../../src/signal/span.js';
import type { SentBatch } from './event-scripts.js';

interface ModelRun {
  /** Whether a header declared the run ended. */
  isDeclaredOver: boolean;
  /** Whether any item of it came without a declared header. */
  isFollowed: boolean;
  readonly spans: Map<string, SpanRecord>;
  hasEnded: boolean;
}

/** An ended run, by the tenant number of the script. */
export interface ModelEnd {
  readonly tenant: 0 | 1;
  readonly traceId: string;
}

/**
 * A model of which runs end in which commit: a run ends once, when a header declares it or when its root ends
 * and no header was declared. Time-outs are not modeled.
 */
export class EventModel {
  readonly #runs = new Map<string, ModelRun>();

  /** @returns the runs that this commit ends, ordered by their last item */
  commit(batches: readonly SentBatch[]): ModelEnd[] {
    const touched = new Map<string, ModelEnd>();
    for (const { tenant, items } of batches) {
      for (const { trace, spans } of items) {
        const key = `${tenant} ${trace.trace_id}`;
        touched.delete(key);
        touched.set(key, { tenant, traceId: trace.trace_id });
        const run = this.#run(key);
        if (trace.follows_spans) run.isFollowed = true;
        else if (trace.status !== 'running') run.isDeclaredOver = true;
        for (const span of spans) {
          const known = run.spans.get(span.span_id);
          if (known === undefined || known.status === 'running') run.spans.set(span.span_id, span);
        }
      }
    }
    return [...touched].filter(([key]) => this.#ends(this.#run(key))).map(([, end]) => end);
  }

  /** @returns the runs that end because they waited long enough for a root */
  sweep(): ModelEnd[] {
    const waited = [...this.#runs].filter(([, run]) => {
      const spans = [...run.spans.values()];
      const haveEnded = spans.length > 0 && spans.every(({ status }) => status !== 'running');
      return run.isFollowed && !run.hasEnded && haveEnded;
    });
    for (const [, run] of waited) run.hasEnded = true;
    return waited.map(([key]) => ({ tenant: key.startsWith('0') ? 0 : 1, traceId: key.slice(2) }));
  }

  #run(key: string): ModelRun {
    const known = this.#runs.get(key);
    if (known !== undefined) return known;
    const run = { isDeclaredOver: false, isFollowed: false, spans: new Map(), hasEnded: false };
    this.#runs.set(key, run);
    return run;
  }

  #ends(run: ModelRun): boolean {
    if (run.hasEnded) return false;
    const rootHasEnded = run.isFollowed && headerOf([...run.spans.values()]).status !== 'running';
    run.hasEnded = run.isDeclaredOver || rootHasEnded;
    return run.hasEnded;
  }
}
