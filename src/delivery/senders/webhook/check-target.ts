import { isIP } from 'node:net';
import type { AddressPolicy } from './address-policy.js';

const MAX_LENGTH = 2048;
/** Spaces and control characters, which `URL` drops without a word. */
const INVISIBLE = /[\s\p{Cc}]/u;

/**
 * Judges the URL to which somebody wants webhooks sent, as far as that goes without asking DNS: asking is slow, may fail for the
 * moment, and tells strangers about the internal network. The addresses of names are judged at every connection.
 *
 * @param options `allowsPlain`: HTTP without TLS may be used, too
 * @returns what is wrong with it, as the rest of a sentence (`must be an https URL`), or null where it may be used
 */
export function checkTarget(
  text: string,
  policy: AddressPolicy,
  { allowsPlain = false }: { readonly allowsPlain?: boolean } = {},
): string | null {
  const notThat = allowsPlain ? 'must be an http or https URL' : 'must be an https URL';
  if (text.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  if (INVISIBLE.test(text)) return 'must not contain spaces or control characters';
  if (!URL.canParse(text)) return notThat;
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(allowsPlain && url.protocol === 'http:')) return notThat;
  if (url.username !== '' || url.password !== '') return 'must not contain a user name or password';
  if (text.includes('#')) return 'must not have a fragment (#…)';
  return mayLeadTo(hostOf(url), policy)
    ? null
    : `must be reachable from the public internet: ${url.hostname} is not allowed`;
}

/** Without the brackets of IPv6, and without the dot that may end a name. */
function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

function mayLeadTo(host: string, policy: AddressPolicy): boolean {
  if (isIP(host) !== 0) return policy.allows(host);
  if (/^(.+\.)?localhost$/.test(host)) return policy.allowsLoopback();
  // Such names exist only inside networks: where no private address may be reached, they lead nowhere.
  if (/\.(internal|local)$/.test(host)) return policy.allowsPrivate;
  return true;
}
