import type { AuditAction } from '../../component/audit-actions.js';
import type { Identity } from '../../component/identity.js';
import type { Clock, Logger } from '../../component/telemetry.js';
import type { AuditEntry, AuditLog } from '../../storage/contracts/accounts.js';
import { SparseLog } from '../../telemetry/sparse-log.js';

/** The actor of an operation, from a handler's input. */
interface Actor {
  /** Its key id is null if authentication is off. Null: unauthenticated. */
  readonly identity: Identity | null;
  /** The address of the client, or of the proxy in front of this listener. */
  readonly address: string;
}

/** Writes one log line. @param fields ids and names of changed objects; never a secret */
export type Audit = (by: Actor, action: AuditAction, fields: object) => void;

/** @param trail also stores the entries */
export function createAudit(logger: Logger, trail?: AuditTrail): Audit {
  return ({ identity, address }, action, fields) => {
    const by = { by_user_id: identity?.userId ?? null, by_key_id: identity?.keyId ?? null, address };
    logger.info({ audit: action, ...by, ...fields }, `Audit: ${action}`);
    trail?.add({ action, user_id: by.by_user_id, key_id: by.by_key_id, address, fields });
  };
}

/** The target of a webhook without its path and query, which often hold a token. */
export function targetHost(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}

/** Maximum number of entries waiting for the store. */
const MAX_WAITING = 1000;
const RETRY_MS = 1000;

/** Stores audit entries in the background, in order. Entries dropped while the store fails are still in the log. */
export class AuditTrail {
  readonly #log: Pick<AuditLog, 'append'>;
  readonly #clock: Clock;
  readonly #faults: SparseLog;
  #waiting: AuditEntry[] = [];
  #writing: Promise<void> | null = null;
  #cancelRetry: () => void = () => undefined;

  constructor(log: Pick<AuditLog, 'append'>, clock: Clock, logger: Logger) {
    this.#log = log;
    this.#clock = clock;
    this.#faults = new SparseLog(logger, clock);
  }

  add({ fields, ...entry }: Omit<AuditEntry, 'at' | 'fields'> & { readonly fields: object }): void {
    if (this.#waiting.length >= MAX_WAITING) {
      this.#faults.warn(1, {}, 'Dropped audit entries: too many are waiting for the control store');
      return;
    }
    this.#waiting.push({ ...entry, at: this.#clock.now(), fields: JSON.stringify(fields) });
    void this.flush();
  }

  /** Stores pending entries. Never rejects; failed entries are retried later. */
  async flush(): Promise<void> {
    this.#cancelRetry();
    if (this.#writing === null && this.#waiting.length > 0) this.#writing = this.#write();
    await this.#writing;
  }

  /** Tries once more to store pending entries, then stops. */
  async stop(): Promise<void> {
    await this.flush();
    this.#cancelRetry();
  }

  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = [...this.#waiting];
      try {
        await this.#log.append(batch);
        this.#waiting = this.#waiting.slice(batch.length);
      } catch (error) {
        this.#faults.warn(batch.length, { err: error }, 'Audit entries are waiting for the control store');
        this.#cancelRetry = this.#clock.after(RETRY_MS, () => void this.flush());
        break;
      }
    }
    // Runs in the same synchronous step as the last check for pending entries, so that no later entry is missed.
    this.#writing = null;
  }
}
