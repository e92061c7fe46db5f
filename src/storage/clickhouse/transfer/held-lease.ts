import { randomUUID } from 'node:crypto';
import { ConsumeError } from '../../../component/consume-error.js';
import type { Lease, Leases } from '../../leases.js';

const LEASE_MS = 60_000;
const RENEW_EVERY_MS = 15_000;

/** A lease that is renewed until it is released. */
export class HeldLease {
  readonly #leases: Leases;
  readonly #lease: Lease;
  readonly #timer: NodeJS.Timeout;
  readonly #lost = new AbortController();
  #until = performance.now() + LEASE_MS;

  private constructor(leases: Leases, lease: Lease) {
    this.#leases = leases;
    this.#lease = lease;
    this.#timer = setInterval(() => void this.#renew(), RENEW_EVERY_MS);
    this.#timer.unref();
  }

  /** @returns null while somebody else has it */
  static async take(leases: Leases, name: string): Promise<HeldLease | null> {
    const lease = await leases.take(name, randomUUID(), LEASE_MS);
    return lease === null ? null : new HeldLease(leases, lease);
  }

  /** Aborted, with a `ConsumeError`, when somebody else may have it. */
  get lost(): AbortSignal {
    return this.#lost.signal;
  }

  async release(): Promise<void> {
    clearInterval(this.#timer);
    // It ends by itself, too.
    await this.#leases.release(this.#lease).catch(() => undefined);
  }

  async #renew(): Promise<void> {
    const until = performance.now() + LEASE_MS;
    const isHeld = await this.#leases.renew(this.#lease, LEASE_MS).catch(() => null);
    if (isHeld === true) this.#until = until;
    else if (isHeld === false || performance.now() > this.#until) this.#lost.abort(lost());
  }
}

function lost(): ConsumeError {
  return new ConsumeError(
    'The control store could not be reached for so long that another process may do the work.',
    {
      code: 'storage_unavailable',
      retryable: true,
    },
  );
}
