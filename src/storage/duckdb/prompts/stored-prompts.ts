import type { PromptLink, PromptVersionFigures } from '../../telemetry-store.js';
import type { IdIndex } from '../ids/id-index.js';
import type { Read } from '../read.js';
import { TraceId } from '../trace-id.js';
import type { PromptNumbers } from '../write-group.js';
import type { Writer } from '../writer.js';
import { PromptFigures } from './prompt-figures.js';

/** The prompts of all users, as far as telemetry needs them. */
export interface KnownPrompts extends PromptNumbers {
  /** The newest first; none where the tenant has no prompt of that name. */
  promptVersions(
    tenant: number,
    name: string,
  ): readonly { readonly number: number; readonly version: number }[];
}

/** Which traces used which prompt versions, and how they went. */
export class StoredPrompts {
  readonly known: KnownPrompts;
  /** Every linked trace, be it stored or not, with the last commit that brought links of it. */
  readonly linked: IdIndex;
  readonly figures = new PromptFigures();

  constructor(known: KnownPrompts, linked: IdIndex) {
    this.known = known;
    this.linked = linked;
  }

  /** Resolves after the commit. @param now microseconds. @returns false where the tenant has no such prompt version */
  async link(writer: Writer, tenant: number, link: PromptLink, now: number): Promise<boolean> {
    const promptNo = this.known.promptNumber(tenant, link.prompt_name, link.prompt_version);
    if (promptNo === undefined) return false;
    const { words } = new TraceId(link.trace_id);
    const spanWords = link.span_id === null ? null : new TraceId(link.span_id).words;
    await writer.write({ link: { tenant, words, promptNo, spanWords, linkedAt: now } });
    return true;
  }

  /** The versions of a prompt, the newest first; null where the tenant has no prompt of that name. */
  async compare(read: Read, tenant: number, name: string): Promise<readonly PromptVersionFigures[] | null> {
    const versions = this.known.promptVersions(tenant, name);
    if (versions.length === 0) return null;
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
