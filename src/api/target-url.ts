import { Type } from 'typebox';
import type { AddressPolicy } from '../delivery/webhook/address-policy.js';
import { checkTarget } from '../delivery/webhook/check-target.js';

const MAX_URL_LENGTH = 2048;

/** Where webhooks are to go; {@link targetFault} checks what the schema cannot. */
export const targetUrl = Type.String({
  maxLength: MAX_URL_LENGTH,
  description:
    'Begins with `https://`. Without user name, password and fragment; its host must be public, or in a network that the operator allows. Redirects are not followed.',
});

/** @returns what is wrong with it, as the rest of a sentence, or null */
export function targetFault(url: string, policy: AddressPolicy): string | null {
  return url.startsWith('https://') ? checkTarget(url, policy) : 'must start with https://';
}
