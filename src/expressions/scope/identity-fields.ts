import { maybeText, text, type Fields } from './field.js';

/** Who brought a batch. */
export interface BroughtBy {
  /** The tenant; of events of an organization the organization. */
  readonly userId: string;
  /** Null where authentication is off, and for events. */
  readonly keyId: string | null;
}

/** What expressions read of whoever sent an item. */
export const IDENTITY_FIELDS = {
  user_id: text('UUID of the user', (by) => by.userId),
  key_id: maybeText('UUID of the API key', (by) => by.keyId),
} as const satisfies Fields<BroughtBy>;
