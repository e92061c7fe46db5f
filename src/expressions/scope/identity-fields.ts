import { maybeText, text, type Fields } from './field.js';

/** Who brought a batch. */
export interface Sender {
  /** The tenant; of events of an organization the organization. */
  readonly userId: string;
  /** Null if authentication is off, and for events. */
  readonly keyId: string | null;
}

/** Fields of an item's sender for expressions. */
export const IDENTITY_FIELDS = {
  user_id: text('UUID of the user', (by) => by.userId),
  key_id: maybeText('UUID of the API key', (by) => by.keyId),
} as const satisfies Fields<Sender>;
