import type { Scope } from '../component/identity.js';
import type { Clock, Logger } from '../component/telemetry.js';
import { BoundedLines } from '../telemetry/bounded-lines.js';

const LINES_A_MINUTE = 20;

export interface Refusal {
  readonly reason: 'malformed' | 'unknown' | 'expired' | 'user_disabled' | 'lacks_scope';
  /** Absent where no usable key is known: of ended keys nothing is in memory. What was sent is never written: it may be a key with a typo. */
  readonly keyId?: string;
  readonly scope?: Scope;
}

/** Writes the audit lines for refused keys, a bounded number of them. */
export class Refusals {
  readonly #logger: Logger;
  readonly #lines: BoundedLines;

  constructor(clock: Clock, logger: Logger) {
    this.#logger = logger;
    this.#lines = new BoundedLines(clock, LINES_A_MINUTE, (count) => {
      logger.info({ audit: 'key.refused', count }, 'Audit: more keys were refused; not each is logged');
    });
  }

  /** @param address of the client; undefined where it is not known */
  note({ reason, keyId, scope }: Refusal, address: string | undefined): void {
    this.#lines.write(() => {
      const fields = { audit: 'key.refused', reason, key_id: keyId ?? null, address: address ?? null };
      this.#logger.info({ ...fields, ...(scope !== undefined && { scope }) }, 'Audit: a key was refused');
    });
  }

  /** Logs how many were left out so far. */
  close(): void {
    this.#lines.close();
  }
}
