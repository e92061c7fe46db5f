import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { Component } from '../../../component/component.js';
import type { ConsumeContext, Consumer, Receipt } from '../../../component/consumer.js';
import { consumeKept } from '../../../component/keep-items.js';
import type { Host } from '../../../component/host.js';
import type { TracesBatch } from '../../../signal/batch.js';
import { MICROS_PER_MS } from '../../../signal/time-units.js';
import type { TraceRecord } from '../../../signal/trace.js';
import { withShare } from '../decider.js';
import { keyOf } from './held-run.js';
import { outOfOrder } from './refusals.js';
import { HeldTraces, type HeldTracesSettings } from './held-traces.js';

/** Maximum number of runs decided in one event loop turn. */
const TURN = 200;

/** Processor `sample`, deciding at the end of a run: see README.md. */
export class TailSample implements Component, Consumer<TracesBatch> {
  readonly #settings: HeldTracesSettings;
  readonly #next: Consumer<TracesBatch>;
  readonly #held: HeldTraces;
  #recovered: Promise<void> = Promise.resolve();
  #hasEnded = false;
  #cancelTimer: () => void = () => undefined;
  /** When the timer fires; null if not set. */
  #timerAt: number | null = null;

  constructor(settings: HeldTracesSettings, next: Consumer<TracesBatch>) {
    this.#settings = settings;
    this.#next = next;
    this.#held = new HeldTraces(settings, next, () => {
      this.#arm();
    });
  }

  /** @throws DirectoryTaken if another process uses the directory; the file system error */
  async start(host: Host): Promise<void> {
    await this.#held.open(host);
    // Starts only after recovery: earlier decisions would miss some parts of a run.
    this.#recovered = this.#held.recover().then(() => {
      this.#arm();
    });
  }

  async consume(batch: TracesBatch, context: ConsumeContext): Promise<Receipt> {
    await this.#recovered;
    const { tenant } = batch;
    // Inside a template the order of processors is checked only at runtime.
    if (batch.quota !== undefined || batch.service_map !== undefined) throw outOfOrder(this.#settings.id);
    this.#held.assertOpen(tenant);
    const left = new Set<number>();
    const held: TraceRecord[] = [];
    let late = 0;
    const items = batch.items.map((item, index) => {
      const share = this.#held.shareOf(keyOf(tenant, item.trace.trace_id));
      if (share === undefined) held.push(item);
      else if (share > 0) return { ...item, trace: withShare(item.trace, share) };
      else late += 1;
      left.add(index);
      return item;
    });
    const passedOn = items.length - left.size;
    // Forwards first the part that may be refused as a whole: nothing is held then, so a retry adds no duplicates.
    const receipt = await consumeKept(
      { ...batch, items },
      { refused: [], dropped: left },
      this.#next,
      context,
    );
    this.#held.noteLate(passedOn, late);
    if (held.length > 0) await this.#held.hold(tenant, held, context.receivedAt);
    return receipt;
  }

  /** Undecided runs, and runs not passed on yet, stay on disk for the next start. */
  async shutdown(): Promise<void> {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#cancelTimer();
    await this.#held.close(this.#recovered);
  }

  #arm(): void {
    const dueAt = this.#held.nextDueAt();
    if (this.#hasEnded || dueAt === null || (this.#timerAt !== null && this.#timerAt <= dueAt)) return;
    this.#cancelTimer();
    this.#timerAt = dueAt;
    const ms = Math.max(0, Math.ceil((dueAt - this.#settings.clock.now()) / MICROS_PER_MS));
    this.#cancelTimer = this.#settings.clock.after(ms, () => {
      void this.#decideDue();
    });
  }

  async #decideDue(): Promise<void> {
    while (!this.#hasEnded && this.#held.decideDue(TURN) === TURN) await yieldToOthers();
    this.#timerAt = null;
    this.#arm();
  }
}
