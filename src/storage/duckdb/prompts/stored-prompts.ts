import type { NumberedVersion } from '../../prompts.js';
import type { PromptLink, PromptVersionFigures } from '../../telemetry-store.js';
import type { IdIndex } from '../ids/id-index.js';
import type { Read } from '../read.js';
import { TraceId } from '../trace-id.js';
import type { Writer } from '../writer.js';
import { PromptFigures } from './prompt-figures.js';

/** A link to a prompt version by its number. */
export interface NumberedLink extends Pick<PromptLink, 'trace_id' | 'span_id'> {
  readonly promptNo: number;
}

/** Which traces used which prompt versions, and how they went. */
export class StoredPrompts {
  /** Every linked trace, be it stored or not, with the last commit that brought links of it. */
  readonly linked: IdIndex;
  readonly figures = new PromptFigures();

  constructor(linked: IdIndex) {
    this.linked = linked;
  }

  /** Resolves after the commit. @param now microseconds */
  async link(writer: Writer, tenant: number, link: NumberedLink, now: number): Promise<void> {
    const { words } = new TraceId(link.trace_id);
    const spanWords = link.span_id === null ? null : new TraceId(link.span_id).words;
    await writer.write({
      link: { tenant, words, promptNo: link.promptNo, spanWords, linkedAt: now },
    });
  }

  /** The figures of versions, in their order. */
  async compare(read: Read, versions: readonly NumberedVersion[]): Promise<readonly PromptVersionFigures[]> {
    const figures = await this.figures.totals(
      read,
      versions.map(({ number }) => number),
    );
    return versions.map(({ number, version }) => {
      const totals = figures.get(number);
      return {
        version,
        total_traces: totals?.traces ?? 0,
        success_count: totals?.successes ?? 0,
        failure_count: totals?.failures ?? 0,
        avg_cost: totals?.meanCost ?? null,
        avg_latency_ms: totals?.meanDurationMs ?? null,
        p95_latency_ms: totals?.p95DurationMs ?? null,
      };
    });
  }
}
