import type { NumberedVersion } from '../../prompts.js';
import type { PromptVersionFigures } from '../../prompt-runs.js';
import type { IdIndex } from '../ids/id-index.js';
import type { Asker } from '../reads/asker.js';
import { TraceId } from '../rows/trace-id.js';
import type { Writer } from '../commits/writer.js';
import type { LinkedPrompts, NumberedLink } from '../prompts/linked-prompts.js';
import { PromptFigures } from '../prompts/prompt-figures.js';

/** Which traces used which prompt versions, and how those traces went. */
export class StoredPrompts implements LinkedPrompts {
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
  async compare(
    { long }: Asker,
    versions: readonly NumberedVersion[],
  ): Promise<readonly PromptVersionFigures[]> {
    const figures = await this.figures.totals(
      long,
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
