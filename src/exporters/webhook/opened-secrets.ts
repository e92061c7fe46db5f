import type { SecretBox } from '../../component/secret-box.js';

/** Maximum number of cached secrets; each takes some 200 bytes. */
const MOST = 1000;

/**
 * Decrypts secrets and caches them, so that most attempts need no request. A rotated secret has a new sealed text. Failures are not
 * cached.
 */
export class OpenedSecrets implements Pick<SecretBox, 'open'> {
  readonly #box: Pick<SecretBox, 'open'>;
  readonly #most: number;
  /** By owner and sealed text: a secret opens for no other owner. Ordered by last use. */
  readonly #opened = new Map<string, Promise<string>>();

  constructor(box: Pick<SecretBox, 'open'>, most = MOST) {
    this.#box = box;
    this.#most = most;
  }

  async open(sealed: string, owner: string): Promise<string> {
    const key = `${owner} ${sealed}`;
    const opened = this.#opened.get(key) ?? this.#box.open(sealed, owner);
    this.#opened.delete(key);
    this.#opened.set(key, opened);
    for (const oldest of this.#opened.keys()) {
      if (this.#opened.size <= this.#most) break;
      this.#opened.delete(oldest);
    }
    try {
      return await opened;
    } catch (error) {
      if (this.#opened.get(key) === opened) this.#opened.delete(key);
      throw error;
    }
  }
}
