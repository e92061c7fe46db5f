import type { Clock, Logger } from '../../component/telemetry.js';
import type { ClaimName, DeliveryQueue } from '../../storage/contracts/deliveries.js';
import { SparseLog } from '../../telemetry/sparse-log.js';

/** Lease of a claim, and interval of its renewal: one renewal may fail. */
export const CLAIM_MS = 30_000;
const RENEW_MS = 10_000;

/**
 * Renews a sender's claims until their results are recorded. Another sender takes over a claim that is not renewed in time; a late
 * result is then ignored.
 */
export class HeldClaims {
  readonly #queue: Pick<DeliveryQueue, 'renew'>;
  readonly #clock: Clock;
  readonly #log: SparseLog;
  readonly #held = new Map<string, ClaimName>();
  #cancel: (() => void) | null = null;

  constructor(tools: {
    readonly queue: Pick<DeliveryQueue, 'renew'>;
    readonly clock: Clock;
    readonly logger: Logger;
  }) {
    this.#queue = tools.queue;
    this.#clock = tools.clock;
    this.#log = new SparseLog(tools.logger, tools.clock);
  }

  /** Adds new claims. */
  add(claims: readonly ClaimName[]): void {
    for (const { delivery_id, attempt } of claims)
      this.#held.set(keyOf({ delivery_id, attempt }), { delivery_id, attempt });
    if (this.#held.size > 0 && this.#cancel === null) this.#renewLater();
  }

  /** Removes recorded or abandoned claims. */
  remove(claims: readonly ClaimName[]): void {
    for (const claim of claims) this.#held.delete(keyOf(claim));
  }

  /** Stops renewing. */
  end(): void {
    this.#held.clear();
    this.#cancel?.();
    this.#cancel = null;
  }

  #renewLater(): void {
    this.#cancel = this.#clock.after(RENEW_MS, () => {
      this.#cancel = null;
      if (this.#held.size === 0) return;
      void this.#renew();
      this.#renewLater();
    });
  }

  async #renew(): Promise<void> {
    try {
      await this.#queue.renew([...this.#held.values()], CLAIM_MS);
    } catch (error) {
      this.#log.warn(
        this.#held.size,
        { err: error },
        'Could not renew claims of webhook deliveries; retrying',
      );
    }
  }
}

function keyOf({ delivery_id, attempt }: ClaimName): string {
  return `${delivery_id} ${attempt}`;
}
