/** Descriptions of refusal codes. */
const REASONS: Readonly<Record<string, string>> = {
  validation_failed: 'fails validation',
  quota_exceeded: 'over the monthly quota',
  storage_exceeded: 'over the storage limit',
  rate_limited: 'rate limit reached',
  overloaded: 'the daemon was overloaded',
  shutting_down: 'the daemon was stopping',
  storage_unavailable: 'the store could not be written',
  store_damaged: 'the stored data of the trace is damaged',
  internal_error: 'internal error of the daemon',
};

/** @param code unknown codes are returned unchanged */
export function reasonOf(code: string): string {
  return REASONS[code] ?? code;
}

/** Compares ids regardless of dashes and case. */
export function isSameTrace(a: string, b: string): boolean {
  const plain = (id: string): string => id.replaceAll('-', '').toLowerCase();
  return plain(a) === plain(b);
}
