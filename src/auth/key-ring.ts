import { timingSafeEqual } from 'node:crypto';
import type { Identity } from '../component/identity.js';
import type { Micros } from '../signal/time.js';
import type { FollowedKey } from '../storage/contracts/accounts.js';
import { digestKey, isKey } from './keys.js';

/** A key that was found. It may have expired a moment ago. */
export interface RingEntry {
  readonly identity: Identity;
  readonly keyId: string;
  readonly expiresAt: Micros | null;
  /** All keys of its user are refused. */
  readonly isUserDisabled: boolean;
}

interface Slot {
  readonly digest: Buffer;
  readonly entry: RingEntry;
  /** Key of its bucket in `#buckets`. */
  readonly bucket: string;
}

/** Number of digest digits that select a bucket. Look-up times can reveal no further digits to an attacker. */
const BUCKET_DIGITS = 8;

/** The usable keys; ended keys are not kept in memory. */
export class KeyRing {
  readonly #buckets = new Map<string, Slot[]>();
  readonly #byId = new Map<string, Slot>();
  /** When the first key expires. */
  #firstEnd: Micros = Infinity;

  /** Adds new and changed keys and removes those that have ended. */
  put(keys: readonly FollowedKey[], now: Micros): void {
    for (const key of keys) {
      if (key.revoked_at !== null || (key.expires_at !== null && key.expires_at <= now)) this.#remove(key.id);
      else this.#put(key);
    }
    if (this.#firstEnd > now) return;
    this.#firstEnd = Infinity;
    for (const [id, { entry }] of this.#byId)
      if (entry.expiresAt !== null && entry.expiresAt <= now) this.#remove(id);
      else this.#firstEnd = Math.min(this.#firstEnd, entry.expiresAt ?? Infinity);
  }

  /** @returns the entry for a key's text, or undefined if it is not a key, unknown or ended */
  find(text: string): RingEntry | undefined {
    if (!isKey(text)) return undefined;
    const digest = digestKey(text);
    const bucket = this.#buckets.get(digest.toString('hex').slice(0, BUCKET_DIGITS));
    return bucket?.find((slot) => timingSafeEqual(slot.digest, digest))?.entry;
  }

  byId(keyId: string): RingEntry | undefined {
    return this.#byId.get(keyId)?.entry;
  }

  #put(key: FollowedKey): void {
    this.#remove(key.id);
    const entry: RingEntry = {
      identity: { userId: key.user_id, keyId: key.id, scopes: key.scopes },
      keyId: key.id,
      expiresAt: key.expires_at,
      isUserDisabled: key.user_disabled,
    };
    const bucket = key.digest.slice(0, BUCKET_DIGITS);
    const slot = { digest: Buffer.from(key.digest, 'hex'), entry, bucket };
    this.#byId.set(key.id, slot);
    this.#buckets.set(bucket, [...(this.#buckets.get(bucket) ?? []), slot]);
    this.#firstEnd = Math.min(this.#firstEnd, key.expires_at ?? Infinity);
  }

  #remove(keyId: string): void {
    const slot = this.#byId.get(keyId);
    if (slot === undefined) return;
    this.#byId.delete(keyId);
    const others = (this.#buckets.get(slot.bucket) ?? []).filter((other) => other !== slot);
    if (others.length === 0) this.#buckets.delete(slot.bucket);
    else this.#buckets.set(slot.bucket, others);
  }
}
