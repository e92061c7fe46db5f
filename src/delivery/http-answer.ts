import type { Micros } from '../signal/time.js';

const REDIRECTS: ReadonlySet<number> = new Set([300, 301, 302, 303, 307, 308]);

/** Whether a response names another address; 304 does not. */
export function isRedirect(status: number): boolean {
  return REDIRECTS.has(status);
}

/** `Retry-After` in milliseconds: whole seconds, or a date. @returns undefined if it is neither */
export function readRetryAfter(value: string | undefined, now: Micros): number | undefined {
  if (value === undefined) return undefined;
  if (/^\s*\d{1,9}\s*$/.test(value)) return Number(value) * 1000;
  // `Date.parse` alone sees dates in many texts; those of HTTP begin with the name of a day.
  const at = /^\s*[A-Z][a-z]{2}/.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(at) ? undefined : Math.max(0, at - Math.floor(now / 1000));
}

const REMEDIES: Readonly<Record<number, string>> = {
  401: 'check the key in headers',
  403: 'check the key in headers and its scopes on the other side',
  404: 'check the path of the URL',
  405: 'check the path of the URL',
  421: 'add the host name of the URL to service.http.hosts on the other side',
};

/**
 * What an operator has to change after an answer that blames the configuration and not the data: the data is kept and sent again
 * until that is done. @returns undefined for every other status
 */
export function remedyFor(status: number | null): string | undefined {
  return status === null ? undefined : REMEDIES[status];
}
