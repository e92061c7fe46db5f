import { SEVERITIES, type LogRecord } from '../../../signal/log-record.js';
import { eventNameOf } from '../../../signal/logged-event.js';
import { serializeJson } from '../../../signal/json.js';
import type { Micros } from '../../../signal/time.js';
import type { RowOf } from '../../../worker/columns.js';
import type { LOG_WIRE } from '../../schema/log-tables.js';
import { bodyText, searchedTexts, wordsOf } from '../../shared/log-text.js';
import { dayOf } from '../tables/days.js';
import { SerializedOrigins } from '../tables/serialized-origins.js';

/** A record as a row of `LOGS`, without the tenant. */
interface LogRow extends Omit<RowOf<typeof LOG_WIRE>, 'normal'> {
  readonly day: number;
  readonly origin: string;
  readonly words: string;
}

/** Approximate bytes of a row without its texts. */
const FIXED_BYTES = 400;

/** Records as rows, and their approximate bytes. @param arrived arrival time */
export function logRows(
  records: readonly LogRecord[],
  arrived: Micros,
): { readonly rows: readonly LogRow[]; readonly bytes: number } {
  const origins = new SerializedOrigins();
  let bytes = 0;
  const rows = records.map((record): LogRow => {
    const { origin } = record;
    const texts = searchedTexts(bodyText(record.body), record.event_name, record.attributes);
    const body = texts.body?.toWellFormed() ?? null;
    const attributes = isEmpty(record.attributes) ? null : serializeJson(record.attributes);
    const words = wordsOf(texts);
    const other_text = texts.other?.toWellFormed() ?? null;
    const length = (body?.length ?? 0) + (attributes?.length ?? 0);
    bytes += FIXED_BYTES + length + words.length + (other_text?.length ?? 0);
    return {
      day: dayOf(record.timestamp, arrived),
      id: record.id,
      timestamp: record.timestamp,
      observed_at: record.observed_at,
      severity: SEVERITIES.indexOf(record.severity),
      severity_number: record.severity_number,
      severity_text: record.severity_text.toWellFormed(),
      service_name: origin.serviceName.toWellFormed(),
      trace_id: record.trace_id,
      span_id: record.span_id,
      flags: record.flags,
      event_name: eventNameOf(record)?.toWellFormed() ?? null,
      body,
      attributes,
      bytes: length,
      other_text,
      origin: origins.of(origin),
      words,
    };
  });
  return { rows, bytes };
}

function isEmpty(object: object): boolean {
  for (const _key in object) return false;
  return true;
}
