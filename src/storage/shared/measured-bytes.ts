import { ConsumeError } from '../../component/consume-error.js';
import type { Clock, Logger } from '../../component/telemetry.js';
import { MS_PER_MINUTE } from '../../signal/time-units.js';
import { SparseLog } from '../../telemetry/sparse-log.js';
import { notOpen } from '../contracts/errors.js';
import type { StorageUse, StoredBytes } from '../contracts/telemetry-writer.js';
import type { StoreUserLimits } from './store-user-limits.js';

/** Bytes by the numbers of tenants. */
export type TenantBytes = ReadonlyMap<number, number>;

interface MeasureParts {
  /** Limit of users without their own; 0 for none. */
  readonly defaultLimit: number;
  readonly limitsOf: (userId: string) => StoreUserLimits | Promise<StoreUserLimits>;
  /** Reads the stored bytes of every user. */
  readonly measure: () => Promise<readonly TenantBytes[]>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long a measurement is valid: this long, or a multiple of its own duration if that is longer. */
const HOLDS_MS = 10_000;
const HOLDS_TIMES = 50;
const RETRY_AFTER_MS = 5 * MS_PER_MINUTE;

/**
 * Measures the storage of all users from the tables, so that any removal lowers it; bytes that this process writes are added until the
 * next measurement. Measures only when a writer has a limit, or on request.
 */
export class MeasuredBytes implements StoredBytes {
  #parts: MeasureParts | null = null;
  #measured: Map<number, number> | null = null;
  /** Bytes written since the last measurement began. */
  readonly #added = new Map<number, number>();
  #measuring: Promise<void> | null = null;
  #isStale = true;
  #isClosed = false;
  #cancel: () => void = () => undefined;
  #log: SparseLog | null = null;

  open(parts: MeasureParts): void {
    this.#parts = parts;
    this.#log = new SparseLog(parts.logger, parts.clock);
  }

  /** Stops measuring. Writes already accepted may still come; their limits use the last result. */
  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  /** Resolves when no measurement is running. */
  async settled(): Promise<void> {
    await this.#measuring?.catch(() => undefined);
  }

  async read(userId: string): Promise<StorageUse> {
    const limits = await this.#opened.limitsOf(userId);
    await this.#refresh();
    const limit = this.#limitOf(limits);
    const used = this.#measured === null ? null : this.#usedBy(limits.tenant);
    return { used, limit: limit === 0 ? null : limit };
  }

  async take(userId: string, bytes: number): Promise<void> {
    const limits = await this.#opened.limitsOf(userId);
    await this.refuseExceeded(limits);
    this.add(limits.tenant, bytes);
  }

  /**
   * @returns a promise only for the first write of a user with a limit, which waits for a measurement
   * @throws ConsumeError `storage_exceeded` if the user has reached the limit
   */
  refuseExceeded(limits: StoreUserLimits): Promise<void> | undefined {
    const limit = this.#limitOf(limits);
    if (limit === 0) return undefined;
    const measured = this.#refresh();
    if (measured !== undefined)
      return measured.then(() => {
        this.#refuse(limits, limit);
      });
    this.#refuse(limits, limit);
    return undefined;
  }

  /** Counts bytes that are being written. @param bytes negative if the write failed */
  add(tenant: number, bytes: number): void {
    const sum = (this.#added.get(tenant) ?? 0) + bytes;
    if (sum === 0) this.#added.delete(tenant);
    else this.#added.set(tenant, sum);
  }

  get #opened(): MeasureParts {
    if (this.#parts !== null) return this.#parts;
    throw notOpen();
  }

  #limitOf({ storedLimit }: StoreUserLimits): number {
    return storedLimit ?? this.#opened.defaultLimit;
  }

  #usedBy(tenant: number): number {
    return Math.max(0, (this.#measured?.get(tenant) ?? 0) + (this.#added.get(tenant) ?? 0));
  }

  #refuse({ tenant }: StoreUserLimits, limit: number): void {
    const used = this.#usedBy(tenant);
    if (used < limit) return;
    throw new ConsumeError(
      `The storage limit of ${String(limit)} bytes is reached: ${String(used)} bytes are stored. Nothing of this request was stored. Delete prompts, saved views or alerts, or ask an administrator for a higher limit or a shorter retention.`,
      { code: 'storage_exceeded', retryable: true, retryAfterMs: RETRY_AFTER_MS },
    );
  }

  /**
   * Measures again if the last result is too old. Large stores take seconds, so only the first result is awaited.
   *
   * @returns a promise while there is no result yet
   */
  #refresh(): Promise<void> | undefined {
    if (!this.#isStale || this.#isClosed) return undefined;
    const measuring = this.#tried();
    return this.#measured === null ? measuring : undefined;
  }

  /** If a measurement fails, the last result stays valid. */
  async #tried(): Promise<void> {
    try {
      await this.#measure();
    } catch (error) {
      if (!this.#isClosed)
        this.#log?.warn(0, { err: error }, 'Cannot measure the stored data of users; retrying.');
    }
  }

  async #measure(): Promise<void> {
    this.#measuring ??= this.#measureOnce().finally(() => {
      this.#measuring = null;
    });
    await this.#measuring;
  }

  async #measureOnce(): Promise<void> {
    const { measure, clock } = this.#opened;
    const begun = performance.now();
    // Bytes written from here on may be measured as well, so they are double-counted until the next measurement.
    const before = new Map(this.#added);
    try {
      const sums = new Map<number, number>();
      const parts = await measure();
      for (const [tenant, bytes] of parts.flatMap((part) => [...part]))
        sums.set(tenant, (sums.get(tenant) ?? 0) + bytes);
      this.#measured = sums;
      for (const [tenant, bytes] of before) this.add(tenant, -bytes);
    } finally {
      this.#isStale = false;
      const holdsMs = Math.max(HOLDS_MS, HOLDS_TIMES * (performance.now() - begun));
      this.#cancel();
      if (!this.#isClosed)
        this.#cancel = clock.after(holdsMs, () => {
          this.#isStale = true;
        });
    }
  }
}
