import type { Origin } from '../../signal/origin.js';
import { ColumnsReader } from '../../worker/columns-reader.js';
import { encodeRows } from '../../worker/columns-writer.js';
import type { ColumnsMessage } from '../../worker/columns.js';
import { ORIGINS } from '../tables.js';
import type { Origins } from './origins.js';
import type { Rows } from './write-group.js';
import { printJson } from '../../signal/json.js';

/** An origin as it crosses to the store thread: it has a number only in the store. */
export const ORIGIN_MESSAGE = ORIGINS.wire.slice(1);

/** The origins of a message, by {@link ORIGIN_MESSAGE}. */
export function encodeOrigins(origins: readonly Origin[]): ColumnsMessage {
  const rows = origins.map(({ resource, scope }) => ({ origin: printJson({ resource, scope }) }));
  return encodeRows(ORIGIN_MESSAGE, rows);
}

/** What the origins of a message are called in the store. */
export interface NumberedOrigins {
  /** By the position in the message. */
  readonly numbers: readonly number[];
  /** For those that the store did not know. */
  readonly rows: readonly Rows[];
}

/** @param message of {@link ORIGIN_MESSAGE} */
export function numberOrigins(
  origins: Origins,
  message: ColumnsReader,
  { seq, tenant }: { readonly seq: number; readonly tenant: number },
): NumberedOrigins {
  const added: { origin_no: number; origin: string }[] = [];
  const numbers = Array.from({ length: message.rows }, (_, row) => {
    const bytes = message.textBytes(0, row);
    const { number, isNew } = origins.number(bytes);
    if (isNew) added.push({ origin_no: number, origin: bytes.toString('utf8') });
    return number;
  });
  if (added.length === 0) return { numbers, rows: [] };
  const source = new ColumnsReader(ORIGINS.wire, encodeRows(ORIGINS.wire, added));
  const own = (_row: number, values: number[]): void => {
    values[0] = seq;
    values[1] = tenant;
  };
  return { numbers, rows: [{ table: ORIGINS, source, from: 0, to: added.length, own, replacing: 0 }] };
}
