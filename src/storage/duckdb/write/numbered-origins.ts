import type { ColumnsReader } from '../../../worker/columns-reader.js';
import type { TableRow } from '../../schema/table.js';
import { ORIGINS } from '../../schema/tables.js';
import type { Origins } from './origins.js';
import { objectRows, type Rows } from './rows.js';

/** The store numbers of the origins of a message. */
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
  const added: TableRow<typeof ORIGINS>[] = [];
  const numbers = Array.from({ length: message.rows }, (_, row) => {
    const bytes = message.textBytes(0, row);
    const { number, isNew } = origins.number(bytes);
    if (isNew) added.push({ seq, tenant, origin_no: number, origin: bytes.toString('utf8') });
    return number;
  });
  return { numbers, rows: objectRows(ORIGINS, added) };
}
