import type { NumberedVersion, PromptVersionStats } from '../../contracts/prompts.js';
import type { IdIndex } from '../index/id-index.js';
import type { ReadContext } from '../segments/read-context.js';
import { TraceId } from '../segments/trace-id.js';
import type { Writer } from '../write/writer.js';
import type { LinkedPrompts, NumberedLink } from '../write/prompt-links.js';
import { countPending } from '../write/stored-links.js';
import { PendingLinks } from '../../shared/pending-links.js';
import type { Reads } from '../segments/read.js';
import { PromptStats } from '../write/prompt-stats.js';

/** Links between traces and prompt versions, and the stats of these traces. */
export class StoredPrompts implements LinkedPrompts {
  readonly linked: IdIndex;
  readonly stats = new PromptStats();
  readonly #traces: IdIndex;
  readonly #pending: PendingLinks;

  /** @param traces every stored trace */
  constructor(linked: IdIndex, traces: IdIndex, reads: Reads) {
    this.linked = linked;
    this.#traces = traces;
    const read = reads.forWork('usage');
    this.#pending = new PendingLinks((tenant) =>
      read((connection, capture) => countPending(connection, capture, tenant)),
    );
  }

  /**
   * Resolves after the commit.
   *
   * @param now microseconds
   * @throws ConsumeError `storage_exceeded` if too many links wait for their traces
   */
  async link(writer: Writer, tenant: number, link: NumberedLink, now: number): Promise<void> {
    const { words } = new TraceId(link.trace_id);
    if (this.#traces.find(tenant, words, 0) === 0) await this.#pending.take(tenant);
    const spanWords = link.span_id === null ? null : new TraceId(link.span_id).words;
    await writer.write({
      kind: 'link',
      tenant,
      words,
      promptNo: link.promptNo,
      spanWords,
      linkedAt: now,
    });
  }

  /** The stats of versions, in the order of the request. */
  async compare(
    { long }: ReadContext,
    versions: readonly NumberedVersion[],
  ): Promise<readonly PromptVersionStats[]> {
    const stats = await this.stats.totals(
      long,
      versions.map(({ number }) => number),
    );
    return versions.map(({ number, version }) => {
      const totals = stats.get(number);
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
