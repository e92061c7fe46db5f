import type { Component } from '../../component/component.js';
import type { ConsumeContext, Consumer, Receipt } from '../../component/consumer.js';
import type { Host } from '../../component/host.js';
import type { Batch, TelemetrySignal } from '../../signal/batch.js';
import { isTelemetryStore } from '../../storage/telemetry-store.js';
import { COUNTABLE, type QuotaConfig } from './config.js';

/** Processor `quota` in a pipeline of one signal: see README.md. */
export class Quota<B extends Batch<unknown>> implements Component, Consumer<B> {
  readonly #config: QuotaConfig;
  readonly #next: Consumer<B>;
  readonly #isCounted: boolean;
  #withdraw: (() => void) | undefined;

  constructor(signal: TelemetrySignal, config: QuotaConfig, next: Consumer<B>) {
    this.#config = config;
    this.#next = next;
    this.#isCounted = config.count.some((kind) => COUNTABLE[kind] === signal);
  }

  /** @throws Error when there is no such store. */
  async start(host: Host): Promise<void> {
    const store = host.extension(this.#config.store, isTelemetryStore);
    if (this.#isCounted) this.#withdraw = store.announceQuota(this.#config.monthly_events);
  }

  async shutdown(): Promise<void> {
    this.#withdraw?.();
    this.#withdraw = undefined;
  }

  /** Only the store knows what is new in a batch, so nothing is refused here. */
  async consume(batch: B, context: ConsumeContext): Promise<Receipt> {
    if (!this.#isCounted) return this.#next.consume(batch, context);
    const limits = [batch.quota?.monthly_items ?? 0, this.#config.monthly_events].filter(
      (limit) => limit > 0,
    );
    // Where there are several of these processors, the smallest limit applies.
    const monthly_items = limits.length === 0 ? 0 : Math.min(...limits);
    return this.#next.consume({ ...batch, quota: { monthly_items } }, context);
  }
}
