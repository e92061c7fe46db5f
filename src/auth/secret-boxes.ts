import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { SecretBox } from '../component/secret-box.js';
import type { SecretsConfig } from '../config/file-schema.js';
import { SecretsKey } from './secrets-key.js';

const CIPHER = 'aes-256-gcm';
/** Prefix of encrypted texts; another encryption would use another prefix. */
const MARK = 'v1:';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The encryption of secrets, one instance for each store: all users of a store share its key. */
export class SecretBoxes {
  readonly #config: SecretsConfig;
  readonly #boxes = new Map<string | null, SecretBox>();

  constructor(config: SecretsConfig) {
    this.#config = config;
  }

  /** @param directory of the store, in which a key is created if none is configured; null if the store has no directory */
  at(directory: string | null): SecretBox {
    let box = this.#boxes.get(directory);
    if (!box) this.#boxes.set(directory, (box = new AesBox(new SecretsKey(this.#config, directory))));
    return box;
  }
}

/** AES-256-GCM. An encrypted text is {@link MARK} and the base64 of nonce, tag and cipher text. */
class AesBox implements SecretBox {
  readonly #key: SecretsKey;

  constructor(key: SecretsKey) {
    this.#key = key;
  }

  async seal(secret: string, owner: string): Promise<string> {
    const key = await this.#key.readOrMake();
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(Buffer.from(owner, 'utf8'));
    const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
    return MARK + Buffer.concat([nonce, cipher.getAuthTag(), text]).toString('base64');
  }

  async open(sealed: string, owner: string): Promise<string> {
    const key = await this.#key.read();
    if (key === null)
      throw new Error(
        `The key that encrypts the store's secrets is missing: put ${this.#key.place} back, or set secrets.key in the configuration to its content`,
      );
    try {
      return decrypt(key, sealed, owner);
    } catch (cause) {
      throw new Error(this.#wrongKey(), { cause });
    }
  }

  #wrongKey(): string {
    const { place, otherPlace } = this.#key;
    const hint = otherPlace === null ? '' : `; ${otherPlace} may hold it`;
    return `The store's secrets are encrypted with a different key than the one in ${place}: put the former key back${hint}`;
  }
}

/** @throws Error if the key or the owner is a different one, or the text was changed */
function decrypt(key: Buffer, sealed: string, owner: string): string {
  if (!sealed.startsWith(MARK)) throw new Error('the secret was encrypted by another version of Jackdaw');
  const bytes = Buffer.from(sealed.slice(MARK.length), 'base64');
  const nonce = bytes.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(owner, 'utf8'));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const text = bytes.subarray(NONCE_BYTES + TAG_BYTES);
  return Buffer.concat([decipher.update(text), decipher.final()]).toString('utf8');
}
