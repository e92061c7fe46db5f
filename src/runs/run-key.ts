import { uuidKey } from '../worker/uuid-words.js';

/** A short key of a run, unique among all users. @param words contains the run's id from `offset` on */
export function runKey(tenant: number, words: Uint32Array, offset: number): string {
  return String.fromCharCode(tenant >>> 16, tenant & 0xffff) + uuidKey(words, offset);
}

/** The part of a key that all runs of a user share. */
export function tenantOf(key: string): string {
  return key.slice(0, TENANT_UNITS);
}

const TENANT_UNITS = 2;
