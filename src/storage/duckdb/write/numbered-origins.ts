import { ColumnsReader } from '../../../worker/columns-reader.js';
import { encodeRows } from '../../../worker/columns-writer.js';
import { ORIGINS } from '../../schema/tables.js';
import type { Origins } from './origins.js';
import type { Rows } from './rows.js';

/** The numbers that the origins of a message have in the store. */
export interface NumberedOrigins {
  /** By their position in the message. */
  readonly numbers: readonly number[];
  /** Rows for origins that are new to the store. */
  readonly rows: readonly Rows[];
}

/** @param message in columns of `ORIGIN_MESSAGE` */
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
  const own = (_row: number, values: Float64Array): void => {
    values[0] = seq;
    values[1] = tenant;
  };
  return { numbers, rows: [{ table: ORIGINS, source, from: 0, to: added.length, own, replacing: 0 }] };
}
