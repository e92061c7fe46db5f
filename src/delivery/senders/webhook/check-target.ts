import { isIP } from 'node:net';
import type { AddressPolicy } from './address-policy.js';

const MAX_LENGTH = 2048;
/** Spaces and control characters, which `URL` drops without a word. */
const INVISIBLE = /[\s\p{Cc}]/u;
/** The Fetch standard's "bad ports": other protocols have them, and a request there would be a probe or an attack. */
const BAD_PORTS: ReadonlySet<number> = new Set([
  ...[0, 1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103],
  ...[
    104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514,
  ],
  ...[515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723],
  ...[2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080],
]);

/**
 * Validates the URL of a webhook without a DNS query: a query is slow, may fail temporarily, and reveals the internal network. The
 * addresses of names are checked at every connection.
 *
 * @param options `allowsPlain`: for URLs of operators: also allows HTTP without TLS and any port
 * @returns the problem, as the rest of a sentence (`must be an https URL`), or null if the URL may be used
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
  if (!allowsPlain && url.port !== '' && BAD_PORTS.has(Number(url.port)))
    return `must not use port ${url.port}: it belongs to another protocol than HTTPS`;
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
