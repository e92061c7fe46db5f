import { hash, randomBytes } from 'node:crypto';

/** `jd_` and 256 random bits in base64url. */
const KEY = /^jd_[A-Za-z0-9_-]{43}$/;
const PREFIX_LENGTH = 11;

export function generateKey(): string {
  return `jd_${randomBytes(32).toString('base64url')}`;
}

/** Whether a text has the form of a key, known or not. */
export function isKey(text: string): boolean {
  return KEY.test(text);
}

/** What is stored of a key: its SHA-256 in 64 lower-case hex digits, and the start that lists show. */
export function describeKey(key: string): { readonly digest: string; readonly prefix: string } {
  return { digest: digestKey(key).toString('hex'), prefix: key.slice(0, PREFIX_LENGTH) };
}

/** The SHA-256 of a key, 32 bytes. 256 random bits need no slow hash: there is nothing to guess. */
export function digestKey(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}
