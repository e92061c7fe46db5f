import type { Micros } from '../../../signal/time.js';
import { DERIVED_LOG_COLUMNS, LOG_WIRE } from '../../schema/log-tables.js';
import { POINT_WIRE } from '../../schema/tables.js';
import type { ExportedRow } from '../../contracts/transfer.js';
import { textsOfRow, wordsOf } from '../../shared/log-text.js';
import { serializeValue } from '../metrics/point-rows.js';
import { dayOf } from '../tables/days.js';
import { NO_BATCH } from '../tables/stored-batch.js';
import type { NewRow } from '../tables/table.js';

/** The tenant and arrival time of a row. */
interface Arrival {
  readonly tenant: number;
  readonly arrived: Micros;
}

/** Converts a row of an exported `logs` to a row of `LOGS`. */
export function exportedLogRow(row: ExportedRow, { tenant, arrived }: Arrival): NewRow {
  const texts = textsOfRow(row);
  return {
    ...pick(
      row,
      LOG_WIRE.filter(({ name }) => !DERIVED_LOG_COLUMNS.has(name)),
    ),
    tenant,
    day: dayOf(Number(row['timestamp']), arrived),
    origin: textOf(row, 'origin') ?? '',
    other_text: texts.other,
    words: wordsOf(texts),
    batch: NO_BATCH,
  };
}

/** Converts a row of an exported `points` to a row of `POINTS`. @param place its position among all imported points */
export function exportedPointRow(
  row: ExportedRow,
  { tenant, arrived, place }: Arrival & { readonly place: number },
): NewRow {
  const value = row['value'];
  return {
    ...pick(row, POINT_WIRE),
    tenant,
    day: dayOf(Number(row['timestamp']), arrived),
    value: serializeValue(typeof value === 'number' ? value : null),
    name: textOf(row, 'metric') ?? '',
    type: Number(row['metric_type']),
    unit: textOf(row, 'unit') ?? '',
    description: textOf(row, 'description') ?? '',
    origin: textOf(row, 'origin') ?? '',
    batch: NO_BATCH,
    place,
    bytes: lengthOf(row, ['labels', 'distribution', 'exemplars']),
  };
}

function pick(
  row: ExportedRow,
  columns: readonly { readonly name: string }[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(columns.map(({ name }) => [name, row[name]]));
}

function lengthOf(row: ExportedRow, names: readonly string[]): number {
  return names.reduce((sum, name) => sum + (textOf(row, name)?.length ?? 0), 0);
}

function textOf(row: ExportedRow, name: string): string | null {
  const value = row[name];
  return typeof value === 'string' ? value : null;
}
