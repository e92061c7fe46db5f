import { apiKey } from './api-key.js';
import { creditCard } from './credit-card.js';
import { email } from './email.js';
import type { Finder } from './finder.js';
import { iban } from './iban.js';
import { ipAddress } from './ip-address.js';
import { jwt } from './jwt.js';
import { phone } from './phone.js';

/** Built-in finders. If two find the same text, the first one's name is used. */
export const BUILTIN = {
  jwt,
  api_key: apiKey,
  email,
  iban,
  credit_card: creditCard,
  ip_address: ipAddress,
  phone,
} as const satisfies Readonly<Record<string, Finder>>;

export type BuiltinName = keyof typeof BUILTIN;
export const BUILTIN_NAMES = Object.keys(BUILTIN) as BuiltinName[];
