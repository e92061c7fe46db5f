/** What codes of refusals mean, for who reads them. */
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

/** @param code as the API has it; another one stands for itself */
export function reasonOf(code: string): string {
  return REASONS[code] ?? code;
}

/** Ids are written with dashes and without, in capitals and not. */
export function isSameTrace(a: string, b: string): boolean {
  const plain = (id: string): string => id.replaceAll('-', '').toLowerCase();
  return plain(a) === plain(b);
}
