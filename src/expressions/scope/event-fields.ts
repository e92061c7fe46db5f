import type { JsonObject } from '../../signal/attributes.js';
import { EVENT_TYPES, type EventRecord } from '../../signal/event.js';
import { parseJson } from '../../signal/json.js';
import { maybeObject, maybeText, text, time, word, type Fields } from './field.js';

const data = maybeObject<EventRecord>(
  'as receivers get it',
  ({ body }) => (parseJson(body) as { readonly data?: JsonObject }).data,
);

/** Fields of an event for expressions. */
export const EVENT_FIELDS = {
  id: text('UUID', (event) => event.id),
  type: word('', EVENT_TYPES, (event) => event.type),
  timestamp: time('', (event) => event.timestamp),
  organization_id: maybeText('UUID', (event) => event.organization_id),
  endpoint_id: maybeText('UUID of the only webhook endpoint to receive it', (event) => event.endpoint_id),
  data: { ...data, isDerived: true },
} as const satisfies Fields<EventRecord>;
