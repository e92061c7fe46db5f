import type { Origin } from '../../../signal/origin.js';
import { serializeJson } from '../../../signal/json.js';
import { encodeRows } from '../../../worker/columns-writer.js';
import type { ColumnsMessage } from '../../../worker/columns.js';
import { ORIGINS } from '../../schema/tables.js';

/** An origin as sent to the store thread, without the number that the store assigns. */
export const ORIGIN_MESSAGE = ORIGINS.wire.slice(1);

/** The origins of a message, in columns of {@link ORIGIN_MESSAGE}. */
export function encodeOrigins(origins: readonly Origin[]): ColumnsMessage {
  const rows = origins.map(({ resource, scope }) => ({ origin: serializeJson({ resource, scope }) }));
  return encodeRows(ORIGIN_MESSAGE, rows);
}
