import { ConsumeError } from '../../component/consume-error.js';
import type { ConsumeContext, Consumer, Receipt } from '../../component/consumer.js';
import type { Clock } from '../../component/telemetry.js';
import type { Batch } from '../../signal/batch.js';
import { MS_PER_SECOND } from '../../signal/time-units.js';
import { copyBatch } from '../copy-batch.js';
import { asConsumeError, contextOf, problemOfBatch } from './batches.js';
import { HeldCall } from './held-call.js';
import type { PluginLimits } from './limits.js';
import type { PluginFaults } from './plugin-faults.js';
import { currentCall, runAs, runAsProgram } from './plugin-scope.js';
import { mendReceipt } from './receipts.js';

export interface GuardTools {
  readonly limits: PluginLimits;
  readonly faults: PluginFaults;
  readonly clock: Clock;
}

/**
 * Wraps a plugin's consumer on both sides. Whatever the plugin does, the caller gets a plausible receipt or a `ConsumeError` in
 * time, and no part of a failed batch is passed on afterwards.
 */
export class ConsumeGuard {
  readonly #tools: GuardTools;
  /** The plugin's calls in progress. */
  readonly #calls = new Set<HeldCall>();
  /** How long the program's own code blocked the thread during the plugin's call, in milliseconds. */
  #behindMs = 0;

  constructor(tools: GuardTools) {
    this.#tools = tools;
  }

  /** Wraps the input of the plugin. */
  before<B extends Batch<unknown>>(inner: Consumer<B>): Consumer<B> {
    return { consume: (batch, context) => this.#give(inner, batch, context) };
  }

  /** Wraps the output of the plugin. */
  behind<B extends Batch<unknown>>(next: Consumer<B>): Consumer<B> {
    return { consume: (batch, context) => this.#passOn(next, batch, context) };
  }

  async #give<B extends Batch<unknown>>(
    inner: Consumer<B>,
    batch: B,
    given: ConsumeContext,
  ): Promise<Receipt> {
    const { limits, faults } = this.#tools;
    const count = batch.items.length;
    // A plugin may pass on a batch in parts, also later: if its thread ends meanwhile, the sender has to repeat the request.
    const context = { ...given };
    Reflect.deleteProperty(context, 'trail');
    this.#assertRoom(count);
    const call = this.#open(context, count);
    // Other components may share the list, which is emptied below.
    const own = limits.copiesBatches ? copyBatch(batch) : { ...batch, items: [...batch.items] };
    try {
      const running = this.#call(inner, own, context, call);
      const given = await Promise.race([running, call.late]);
      const mended = mendReceipt(given, count);
      if (mended === undefined) throw this.#broken('receipt', 'returned no receipt for a batch', count);
      if (mended.wrong !== undefined)
        faults.note('receipt', `returned an invalid receipt: ${mended.wrong}`, { items: count });
      return mended.receipt;
    } catch (error) {
      // The plugin may never release the batch: release at least its items.
      if (call.isLate && !call.wentOn) own.items.length = 0;
      throw this.#asOurs(error, count);
    }
  }

  #assertRoom(count: number): void {
    const { limits, faults } = this.#tools;
    let held = 0;
    if (this.#calls.size >= limits.maxInFlight) for (const call of this.#calls) if (call.isHeld) held += 1;
    if (held < limits.maxInFlight) return;
    faults.note('full', `holds ${held} batches, which is its limit (plugin_limits.max_in_flight)`, {
      items: count,
    });
    throw new ConsumeError('A plugin is at its limit of batches: send the batch again later', {
      code: 'overloaded',
      retryable: true,
      retryAfterMs: MS_PER_SECOND,
    });
  }

  #open(context: ConsumeContext, count: number): HeldCall {
    const { limits, faults, clock } = this.#tools;
    const call = new HeldCall(clock, limits.consumeMs, () => {
      faults.note('timeout', 'did not finish a batch in time', { items: count });
      faults.lost(1);
      return new ConsumeError('A plugin did not finish the batch in time', {
        code: 'overloaded',
        retryable: true,
        retryAfterMs: MS_PER_SECOND,
      });
    });
    this.#calls.add(call);
    // The queue before an exporter cancels attempts itself.
    if (limits.consumeMs === null)
      context.abort?.addEventListener('abort', () => {
        call.giveUp();
      });
    return call;
  }

  /** Calls the plugin. The call stays registered until it has ended. */
  async #call<B>(inner: Consumer<B>, batch: B, context: ConsumeContext, call: HeldCall): Promise<unknown> {
    const { limits, faults } = this.#tools;
    try {
      const startedAt = performance.now();
      this.#behindMs = 0;
      // `async`, because a plugin may throw synchronously.
      const running = runAs(faults, async () => inner.consume(batch, context), call);
      const blockedMs = performance.now() - startedAt - this.#behindMs;
      if (blockedMs > limits.blockMs)
        faults.note(
          'blocked',
          `kept the thread busy for ${Math.round(blockedMs)} ms (plugin_limits.max_block)`,
        );
      call.watch();
      return await running;
    } finally {
      this.#calls.delete(call);
      call.end();
      if (call.isLate) faults.lost(-1);
    }
  }

  async #passOn<B extends Batch<unknown>>(next: Consumer<B>, batch: B, given: unknown): Promise<Receipt> {
    const { clock, faults } = this.#tools;
    const call = currentCall();
    if (call?.isLate === true) {
      faults.note('late', 'passed on a failed batch');
      throw failed('The batch timed out; its results are discarded');
    }
    const problem = problemOfBatch(batch);
    if (problem !== undefined) throw this.#broken('batch', `passed on something that ${problem}`, 0);
    call?.goBehind();
    try {
      const startedAt = performance.now();
      const running = runAsProgram(async () => next.consume(batch, contextOf(given, clock)));
      this.#behindMs += performance.now() - startedAt;
      return await running;
    } catch (error) {
      fromBehind.add(error instanceof Error ? error : new Error(String(error)));
      throw error;
    } finally {
      call?.comeBack();
    }
  }

  #asOurs(error: unknown, count: number): Error {
    if (error instanceof Error && fromBehind.has(error)) return error;
    const known = asConsumeError(error);
    if (known) return known;
    this.#tools.faults.note('threw', 'threw an error on a batch; the sender may retry', {
      items: count,
      error,
    });
    return failed('A plugin failed on the batch', error);
  }

  #broken(fault: 'receipt' | 'batch', what: string, items: number): ConsumeError {
    this.#tools.faults.note(fault, what, { items });
    return failed(`A plugin ${what}`);
  }
}

/** Errors of downstream components, which are not the plugin's. */
const fromBehind = new WeakSet<Error>();

function failed(message: string, cause?: unknown): ConsumeError {
  return new ConsumeError(message, { code: 'internal_error', retryable: true, cause });
}
