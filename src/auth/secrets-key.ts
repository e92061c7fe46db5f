import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SECRETS_KEY_PATTERN, type SecretsConfig } from '../config/file-schema.js';
import { writePrivateFile } from './private-file.js';

/** Name of the key file in a store's directory. */
export const SECRETS_KEY_FILE = 'secrets-key';
const KEY_BYTES = 32;
const FORM = new RegExp(SECRETS_KEY_PATTERN, 'u');

/** The key that encrypts secrets in a store: the configured one, or one in a file next to the store. */
export class SecretsKey {
  readonly #isConfigured: boolean;
  readonly #file: string | null;
  #key: Buffer | null;
  #making: Promise<Buffer> | undefined;

  /** @param directory of the store; null if it has none, in which case a key must be configured */
  constructor(config: SecretsConfig, directory: string | null) {
    this.#isConfigured = config.key !== undefined;
    this.#key = config.key === undefined ? null : Buffer.from(config.key, 'base64');
    this.#file = directory === null ? null : join(directory, SECRETS_KEY_FILE);
  }

  /** The location of the key, for errors. */
  get place(): string {
    return this.#isConfigured || this.#file === null ? 'secrets.key of the configuration' : this.#file;
  }

  /** The location of another key that may have been used before, for errors; null if absent. */
  get otherPlace(): string | null {
    return this.#isConfigured && this.#file !== null && existsSync(this.#file) ? this.#file : null;
  }

  /**
   * The key; null if it does not exist yet.
   *
   * @throws Error if the file cannot be read or holds no key
   */
  async read(): Promise<Buffer | null> {
    return (this.#key ??= await this.#readFile(this.#fileOrFail()));
  }

  /**
   * The key, created if missing.
   *
   * @throws Error if it cannot be read or written
   */
  async readOrMake(): Promise<Buffer> {
    // Concurrent callers must not create two keys.
    this.#making ??= this.#readOrMake().finally(() => (this.#making = undefined));
    return await this.#making;
  }

  async #readOrMake(): Promise<Buffer> {
    return (await this.read()) ?? (this.#key = await this.#make());
  }

  async #readFile(file: string): Promise<Buffer | null> {
    let text: string;
    try {
      text = await readFile(file, 'utf8');
    } catch (cause) {
      if (cause instanceof Error && 'code' in cause && cause.code === 'ENOENT') return null;
      throw new Error(`Cannot read the key of the store's secrets: make ${file} readable`, {
        cause,
      });
    }
    const key = text.trim();
    // Never replaced: its content may be the only key that decrypts the secrets.
    if (!FORM.test(key))
      throw new Error(
        `${file} does not hold the key of the store's secrets, 32 bytes in base64: restore it from a backup, or remove it if there never was one`,
      );
    return Buffer.from(key, 'base64');
  }

  async #make(): Promise<Buffer> {
    const key = randomBytes(KEY_BYTES);
    await writePrivateFile(this.#fileOrFail(), key.toString('base64'), "The key of the store's secrets");
    return key;
  }

  #fileOrFail(): string {
    if (this.#file !== null) return this.#file;
    throw new Error(
      'secrets.key is missing in the configuration: the store has no directory to keep a key in, so the secrets of webhook endpoints cannot be kept without it',
    );
  }
}
