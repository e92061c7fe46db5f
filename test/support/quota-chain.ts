import type { Consumer, ConsumeContext, Receipt } from '../../src/component/consumer.js';
import type { Host } from '../../src/component/host.js';
import { Quota } from '../../src/processors/quota/quota.js';
import type {
  Batch,
  Batches,
  LogsBatch,
  MetricsBatch,
  TelemetrySignal,
  TracesBatch,
} from '../../src/signal/batch.js';
import type { TelemetryStore } from '../../src/storage/contracts/telemetry-store.js';
import type { TelemetryWriter } from '../../src/storage/contracts/telemetry-writer.js';
import type { OpenedTelemetry } from '../conformance/telemetry-stores.js';
import { hostThatKeeps } from '../storage/duckdb/test-store.js';
import { componentSettings } from './component-settings.js';

/** The processor in front of a store, in a pipeline of each signal, all of which count. */
export class QuotaChain implements TelemetryWriter {
  /** Its clock is that of the processor. */
  readonly settings = componentSettings('quota');
  readonly #quotas: { readonly [Signal in TelemetrySignal]: Quota<Batches[Signal]> };
  #calls = 0;
  #passed = 0;

  private constructor({ writer }: TelemetryStore, monthlyEvents: number) {
    const config = {
      monthly_events: monthlyEvents,
      count: ['spans', 'metric_points', 'log_records'] as ('spans' | 'metric_points' | 'log_records')[],
      store: 'duckdb',
      control: 'sqlite',
    };
    const before = <B extends Batch<unknown>>(
      signal: TelemetrySignal,
      write: (batch: B, context: ConsumeContext) => Promise<Receipt>,
    ): Quota<B> => {
      const next: Consumer<B> = {
        consume: async (batch, context) => {
          this.#passed++;
          return await write(batch, context);
        },
      };
      return new Quota<B>(signal, { ...this.settings, config, next });
    };
    this.#quotas = {
      traces: before<TracesBatch>('traces', (batch, context) => writer.traces(batch, context)),
      metrics: before<MetricsBatch>('metrics', (batch, context) => writer.metrics(batch, context)),
      logs: before<LogsBatch>('logs', (batch, context) => writer.logs(batch, context)),
    };
  }

  static async start(
    { store, control }: Pick<OpenedTelemetry, 'store' | 'control'>,
    monthlyEvents: number,
  ): Promise<QuotaChain> {
    const chain = new QuotaChain(store, monthlyEvents);
    const host: Host = {
      ...hostThatKeeps([]),
      extension: (id, isWanted) => {
        const found: unknown = id === 'duckdb' ? store : control;
        if (!isWanted(found)) throw new Error(`${id} is something else`);
        return found;
      },
    };
    for (const quota of Object.values(chain.#quotas)) await quota.start(host);
    return chain;
  }

  /** Batches that never reached the store. */
  get refusedEarly(): number {
    return this.#calls - this.#passed;
  }

  async stop(): Promise<void> {
    for (const quota of Object.values(this.#quotas)) await quota.shutdown();
  }

  async traces(batch: TracesBatch, context: ConsumeContext): Promise<Receipt> {
    this.#calls++;
    return await this.#quotas.traces.consume(batch, context);
  }

  async metrics(batch: MetricsBatch, context: ConsumeContext): Promise<Receipt> {
    this.#calls++;
    return await this.#quotas.metrics.consume(batch, context);
  }

  async logs(batch: LogsBatch, context: ConsumeContext): Promise<Receipt> {
    this.#calls++;
    return await this.#quotas.logs.consume(batch, context);
  }
}
