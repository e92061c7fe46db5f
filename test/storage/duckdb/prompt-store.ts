import type { SpanRecord } from '../../../src/signal/span.js';
import type { Micros } from '../../../src/signal/time.js';
import type { TraceRecord } from '../../../src/signal/trace.js';
import type { ControlStore } from '../../../src/storage/contracts/control-store.js';
import type { PromptVersionStats } from '../../../src/storage/contracts/prompts.js';
import type { TelemetryStore } from '../../../src/storage/contracts/telemetry-store.js';
import { aHeader, aSpanRecord, NOON } from '../../support/run-records.js';
import { addPrompts } from './prompt-oracle.js';

export const P1 = { name: 'p', version: 1 };

/** The current telemetry store and control store. */
interface Stores {
  readonly store: Pick<TelemetryStore, 'prompts' | 'runs'> & {
    readonly writer: Pick<TelemetryStore['writer'], 'traces'>;
  };
  readonly control: ControlStore;
  addUser(): Promise<string>;
}

/** A user with versions 1 and 2 of the prompt `p`. */
export class PromptStore<Opened extends Stores> {
  readonly opened: Opened;
  readonly tenant: string;
  readonly #now: () => Micros;

  private constructor(opened: Opened, tenant: string, now: () => Micros) {
    this.opened = opened;
    this.tenant = tenant;
    this.#now = now;
  }

  /** @param now creation time of links */
  static async of<Opened extends Stores>(
    opened: Opened,
    now: () => Micros = () => NOON,
  ): Promise<PromptStore<Opened>> {
    const tenant = await opened.addUser();
    await addPrompts(opened.control.prompts, tenant, ['p'], [1, 2]);
    return new PromptStore(opened, tenant, now);
  }

  async write(...items: TraceRecord[]): Promise<void> {
    await this.opened.store.writer.traces({ tenant: this.tenant, items }, { receivedAt: NOON });
  }

  async link(trace_id: string, span_id: string | null = null, version = 1): Promise<boolean> {
    const link = { prompt_name: 'p', prompt_version: version, trace_id, span_id };
    return await this.opened.store.prompts.link(this.tenant, link, this.#now());
  }

  /** The stats of version 1, and the number of traces of version 2. */
  async stats(): Promise<PromptVersionStats & { readonly others: number }> {
    const [two, one] = (await this.opened.store.prompts.compare(this.tenant, 'p')) ?? [];
    if (one === undefined || two === undefined) throw new Error('the versions are gone');
    return { ...one, others: two.total_traces };
  }
}

export function aPromptedRun(
  changes: Parameters<typeof aHeader>[0],
  ...spans: Partial<SpanRecord>[]
): TraceRecord {
  const trace = aHeader(changes);
  return { trace, spans: spans.map((span) => aSpanRecord(trace.trace_id, span)) };
}
