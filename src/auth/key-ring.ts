import { timingSafeEqual } from 'node:crypto';
import type { Identity } from '../component/identity.js';
import type { Micros } from '../signal/time.js';
import type { StoredKey } from '../storage/accounts.js';
import type { KeyChange } from '../storage/meta-store.js';
import { digestKey, isKey } from './keys.js';

/** A key that was found, whatever its state. */
export interface RingEntry {
  readonly identity: Identity;
  readonly keyId: string;
  readonly expiresAt: Micros | null;
  revokedAt: Micros | null;
}

interface Slot {
  readonly digest: Buffer;
  readonly entry: RingEntry;
}

/** Digits of the digest that choose a bucket. What an attacker can learn from the time of a look-up ends with them. */
const BUCKET_DIGITS = 8;

/**
 * All keys in memory, and which users are disabled. The process is the only writer of the store, so with its changes applied the ring is exact.
 */
export class KeyRing {
  readonly #buckets = new Map<string, Slot[]>();
  readonly #byId = new Map<string, RingEntry>();
  readonly #disabledUsers: Set<string>;

  /** @param disabledUsers their ids */
  constructor(keys: readonly StoredKey[], disabledUsers: Iterable<string>) {
    this.#disabledUsers = new Set(disabledUsers);
    for (const key of keys) this.#add(key);
  }

  isDisabled(userId: string): boolean {
    return this.#disabledUsers.has(userId);
  }

  apply(change: KeyChange): void {
    if (change.kind === 'created') {
      this.#add(change.key);
      return;
    }
    if (change.kind === 'user') {
      if (change.isDisabled) this.#disabledUsers.add(change.userId);
      else this.#disabledUsers.delete(change.userId);
      return;
    }
    const entry = this.#byId.get(change.id);
    if (entry) entry.revokedAt ??= change.at;
  }

  /** @returns the entry of a key's text, or undefined where it is no key or unknown. */
  find(text: string): RingEntry | undefined {
    if (!isKey(text)) return undefined;
    const digest = digestKey(text);
    const bucket = this.#buckets.get(digest.toString('hex').slice(0, BUCKET_DIGITS));
    return bucket?.find((slot) => timingSafeEqual(slot.digest, digest))?.entry;
  }

  #add(key: StoredKey): void {
    if (this.#byId.has(key.id)) return;
    const entry: RingEntry = {
      identity: { userId: key.user_id, keyId: key.id, scopes: key.scopes },
      keyId: key.id,
      expiresAt: key.expires_at,
      revokedAt: key.revoked_at,
    };
    const name = key.digest.slice(0, BUCKET_DIGITS);
    const slot = { digest: Buffer.from(key.digest, 'hex'), entry };
    const bucket = this.#buckets.get(name);
    if (bucket) bucket.push(slot);
    else this.#buckets.set(name, [slot]);
    this.#byId.set(key.id, entry);
  }
}
