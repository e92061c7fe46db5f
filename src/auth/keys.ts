import { hash, randomBytes } from 'node:crypto';

/** `jd_` and 256 random bits in base64url. */
const KEY = /^jd_[A-Za-z0-9_-]{43}$/;
const PREFIX_LENGTH = 11;

export function generateKey(): string {
  return `jd_${randomBytes(32).toString('base64url')}`;
}

/** Whether a text has the format of a key. The key need not exist. */
export function isKey(text: string): boolean {
  return KEY.test(text);
}

/** The stored form of a key: its SHA-256 as 64 lower-case hex digits, and the prefix that lists show. */
export function describeKey(key: string): { readonly digest: string; readonly prefix: string } {
  return { digest: digestKey(key).toString('hex'), prefix: key.slice(0, PREFIX_LENGTH) };
}

/** The SHA-256 of a key, 32 bytes. A random key of 256 bits cannot be guessed, so a slow hash is unnecessary. */
export function digestKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}
