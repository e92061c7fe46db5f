import { ConsumeError } from '../../component/consume-error.js';
import type { Clock } from '../../component/telemetry.js';
import { MICROS_PER_MS } from '../../signal/time-units.js';
import type { Micros } from '../../signal/time.js';
import { pause } from '../../telemetry/pause.js';
import type { Lease, Leases } from '../contracts/coordination.js';

/** How often a lease is renewed within its duration. */
const TURNS = 3;

/** How a lease is held. */
export interface LeaseHold {
  readonly leases: Leases;
  /** Duration without renewal, in milliseconds. */
  readonly ms: number;
  /** Must be a running clock: with a stopped clock the lease is never renewed. */
  readonly clock: Clock;
  /** Calls the store, and records whether it responds. */
  readonly ask?: <Answer>(question: () => Promise<Answer>) => Promise<Answer>;
  /** Called with the error of a failed renewal; it is retried. */
  readonly failed?: (error: unknown) => void;
}

/** A lease that is renewed until it is released or lost; it also expires by the local clock if the store cannot be reached. */
export class HeldLease {
  readonly lease: Lease;
  readonly #hold: LeaseHold;
  readonly #lost = new AbortController();
  readonly #ended = new AbortController();
  readonly #renewing: Promise<void>;

  private constructor(hold: LeaseHold, lease: Lease, takenAt: Micros) {
    this.#hold = hold;
    this.lease = lease;
    this.#renewing = this.#renew(takenAt);
  }

  /**
   * @param owner identifies the process, unique over time
   * @returns null while another process holds the lease
   * @throws ConsumeError
   */
  static async take(hold: LeaseHold, name: string, owner: string): Promise<HeldLease | null> {
    const { leases, ms, clock, ask = plainly } = hold;
    const askedAt = clock.now();
    const lease = await ask(() => leases.take(name, owner, ms));
    return lease === null ? null : new HeldLease(hold, lease, askedAt);
  }

  /** Aborted, with a `ConsumeError`, when another process may hold the lease. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  /** Must be called when another process turns out to have taken the lease. */
  lose(): void {
    this.#lost.abort(lost());
  }

  /** Releases the lease before it expires. Never rejects: if the release fails, the lease expires. */
  async release(): Promise<void> {
    this.#ended.abort();
    await this.#renewing;
    if (!this.lost.aborted) await this.#hold.leases.release(this.lease).catch(() => undefined);
  }

  async #renew(takenAt: Micros): Promise<void> {
    const { leases, ms, clock, ask = plainly, failed } = this.#hold;
    const loseLater = (askedAt: Micros): (() => void) =>
      clock.after(ms - (clock.now() - askedAt) / MICROS_PER_MS, () => {
        this.lose();
      });
    let cancel = loseLater(takenAt);
    for (;;) {
      await pause(clock, ms / TURNS, this.#ended.signal, this.lost);
      if (this.#ended.signal.aborted || this.lost.aborted) break;
      try {
        const askedAt = clock.now();
        const isHeld = await ask(() => leases.renew(this.lease, ms));
        cancel();
        if (isHeld) cancel = loseLater(askedAt);
        else this.lose();
      } catch (error) {
        failed?.(error);
      }
    }
    cancel();
  }
}

async function plainly<Answer>(question: () => Promise<Answer>): Promise<Answer> {
  return await question();
}

function lost(): ConsumeError {
  return new ConsumeError(
    'The control store was unreachable for so long that another process may have taken over.',
    { code: 'storage_unavailable', retryable: true },
  );
}
