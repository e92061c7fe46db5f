import { timingSafeEqual } from 'node:crypto';
import type { Identity } from '../component/identity.js';
import type { Micros } from '../signal/time.js';
import type { FollowedKey } from '../storage/accounts.js';
import { digestKey, isKey } from './keys.js';

/** A key that was found, whatever its state. */
export interface RingEntry {
  readonly identity: Identity;
  readonly keyId: string;
  readonly expiresAt: Micros | null;
  readonly isRevoked: boolean;
  /** All keys of its user are refused. */
  readonly isUserDisabled: boolean;
}

interface Slot {
  readonly keyId: string;
  readonly digest: Buffer;
  entry: RingEntry;
}

/** How many digits of the digest choose a bucket. The time of a look-up can tell an attacker nothing beyond these. */
const BUCKET_DIGITS = 8;

/** All keys in memory, as they were put last. */
export class KeyRing {
  readonly #buckets = new Map<string, Slot[]>();
  readonly #byId = new Map<string, RingEntry>();

  /** Puts keys that are new, or about which something was decided. */
  put(keys: readonly FollowedKey[]): void {
    for (const key of keys) this.#put(key);
  }

  /** @returns the entry for a key's text, or undefined where it is not a key or unknown. */
  find(text: string): RingEntry | undefined {
    if (!isKey(text)) return undefined;
    const digest = digestKey(text);
    const bucket = this.#buckets.get(digest.toString('hex').slice(0, BUCKET_DIGITS));
    return bucket?.find((slot) => timingSafeEqual(slot.digest, digest))?.entry;
  }

  /** @returns the entry for the id of a key */
  byId(keyId: string): RingEntry | undefined {
    return this.#byId.get(keyId);
  }

  #put(key: FollowedKey): void {
    const entry: RingEntry = {
      identity: { userId: key.user_id, keyId: key.id, scopes: key.scopes },
      keyId: key.id,
      expiresAt: key.expires_at,
      isRevoked: key.revoked_at !== null,
      isUserDisabled: key.user_disabled,
    };
    this.#byId.set(key.id, entry);
    const name = key.digest.slice(0, BUCKET_DIGITS);
    const bucket = this.#buckets.get(name) ?? [];
    // The digest of a key never changes.
    const known = bucket.find(({ keyId }) => keyId === key.id);
    if (known) known.entry = entry;
    else bucket.push({ keyId: key.id, digest: Buffer.from(key.digest, 'hex'), entry });
    this.#buckets.set(name, bucket);
  }
}
