import { ConsumeError } from '../../component/consume-error.js';
import type { Clock, Logger } from '../../component/telemetry.js';
import type { Signal } from '../../signal/batch.js';
import type { Micros } from '../../signal/time.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import { failureFields } from './delivery-error.js';

/** How long an exporter may deliver nothing before that is reported, and how long a reported reason stays at least. */
const STALL_MS = 60_000;

export interface DeliveryWatchTools {
  readonly signal: Signal;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Receives the reason of a stall when it begins and when the reason changes, null when it ends. */
  readonly onStall?: ((reason: string | null) => void) | undefined;
}

/**
 * Logs failed attempts, and reports a stall: batches were queued for a minute and none was delivered. Only a delivery ends a stall, so
 * an exporter whose batches are all refused stalls as well.
 */
export class DeliveryWatch {
  readonly #tools: DeliveryWatchTools;
  readonly #log: SparseLog;
  /** When the first batch of those that followed the last delivery was begun; null after a delivery. */
  #since: Micros | null = null;
  /** Batches that are being sent, or wait for their next attempt. */
  #underWay = 0;
  #endedAt: Micros = -Infinity;
  #reason = 'no answer yet';
  #reported: { readonly reason: string; readonly at: Micros } | null = null;
  #cancelTimer: (() => void) | null = null;

  constructor(tools: DeliveryWatchTools) {
    this.#tools = tools;
    this.#log = new SparseLog(tools.logger, tools.clock);
  }

  get isStalled(): boolean {
    return this.#reported !== null;
  }

  begin(): void {
    const wasIdle = this.#underWay === 0 && this.#msSince(this.#endedAt) >= STALL_MS;
    this.#underWay += 1;
    // An idle exporter has nothing to deliver: that time is no stall.
    if (this.#since === null || (wasIdle && !this.isStalled)) this.#restart();
  }

  /** An attempt failed. @param waitMs until the next one; null for no further one */
  failed(error: unknown, waitMs: number | null, queuedItems: number): void {
    const isExpected = error instanceof ConsumeError;
    this.#reason = isExpected ? error.message : 'an unexpected error (see the log)';
    const isOverdue = this.#since !== null && this.#msSince(this.#since) >= STALL_MS;
    // Waiting does not help if an operator has to act.
    if (isOverdue || (isExpected && error.needsOperator)) this.#report();
    // The reported stall has said so.
    if (waitMs === null || (this.isStalled && isExpected)) return;
    this.#log.warn(
      0,
      { signal: this.#tools.signal, ...failureFields(error), queued_items: queuedItems },
      `Could not deliver a batch; retrying in ${Math.ceil(waitMs / 100) / 10} s`,
    );
  }

  delivered(): void {
    if (this.#underWay > 1) this.#restart();
    else this.#since = null;
    if (this.#reported === null) return;
    this.#reported = null;
    this.#tools.onStall?.(null);
  }

  /** Ends a started batch: delivered, dropped or dead-lettered. */
  ended(): void {
    this.#underWay -= 1;
    this.#endedAt = this.#tools.clock.now();
  }

  stop(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = null;
  }

  /** One timer at a time: deliveries only move the time that it looks at. */
  #restart(): void {
    this.#since = this.#tools.clock.now();
    if (this.#cancelTimer === null) this.#wait(STALL_MS);
  }

  #wait(ms: number): void {
    this.#cancelTimer = this.#tools.clock.after(ms, () => {
      this.#check();
    });
  }

  #check(): void {
    this.#cancelTimer = null;
    if (this.#since === null || this.#underWay === 0) return;
    const leftMs = STALL_MS - this.#msSince(this.#since);
    if (leftMs <= 0) this.#report();
    else this.#wait(leftMs);
  }

  #report(): void {
    const before = this.#reported;
    if (before !== null && (before.reason === this.#reason || this.#msSince(before.at) < STALL_MS)) return;
    this.#reported = { reason: this.#reason, at: this.#tools.clock.now() };
    this.#tools.onStall?.(this.#reason);
  }

  #msSince(at: Micros): number {
    return (this.#tools.clock.now() - at) / MICROS_PER_MS;
  }
}
