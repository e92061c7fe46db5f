import type { PromptLink, PromptVersionFigures } from '../../telemetry-store.js';
import type { Connection } from '../database.js';
import type { IdIndex } from '../ids/id-index.js';
import type { Read } from '../read.js';
import type { Capture } from '../segments.js';
import { TraceId } from '../trace-id.js';
import type { PromptNumbers } from '../write-group.js';
import type { Writer } from '../writer.js';
import { PromptFigures } from './prompt-figures.js';
import { storedPrompts } from './stored-links.js';

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

  async load(connection: Connection, capture: Capture): Promise<void> {
    if (this.linked.size > 0) await this.figures.load(storedPrompts(connection, capture));
  }

  /** After traces were removed. */
  async tracesRemoved(read: Read): Promise<void> {
    if (this.linked.size === 0) return;
    await read((connection, capture) => this.figures.load(storedPrompts(connection, capture)));
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
  compare(tenant: number, name: string): readonly PromptVersionFigures[] | null {
    const versions = this.known.promptVersions(tenant, name);
    if (versions.length === 0) return null;
    return versions.map(({ number, version }) => {
      const totals = this.figures.totals(number);
      return {
        version,
        total_traces: totals.traces,
        success_count: totals.successes,
        failure_count: totals.failures,
        avg_cost: totals.meanCost,
        avg_latency_ms: totals.meanDurationMs,
        p95_latency_ms: totals.p95DurationMs,
      };
    });
  }
}
