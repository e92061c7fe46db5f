import { Type } from 'typebox';
import type { AddressPolicy } from '../../delivery/senders/webhook/address-policy.js';
import { checkTarget } from '../../delivery/senders/webhook/check-target.js';

const MAX_URL_LENGTH = 2048;

/** A name of the public internet as host. Addresses and other names belong to networks that the operator allows. */
const PUBLIC_URL =
  "^https://(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\\.)+[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?::(?:443|8[0-9]{3}))?(?:/[!$%&'()*+,./0-9:;=?@A-Z_a-z~-]*)?$";

/** URL of a webhook; {@link targetFault} checks rules that the schema cannot express. */
export const targetUrl = Type.String({
  maxLength: MAX_URL_LENGTH,
  documented: { pattern: PUBLIC_URL },
  description:
    'Begins with `https://`. Without user name, password and fragment; not on a port of another protocol (the bad ports of the Fetch standard); its host must be public; addresses and other names are taken where they lie in networks that the operator allows. Redirects are not followed.',
});

/** @returns the problem as the rest of a sentence, or null */
export function targetFault(url: string, policy: AddressPolicy): string | null {
  return url.startsWith('https://') ? checkTarget(url, policy) : 'must start with https://';
}
