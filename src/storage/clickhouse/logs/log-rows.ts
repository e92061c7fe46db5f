import { SEVERITIES, type LogRecord } from '../../../signal/log-record.js';
import { loggedEventName } from '../../../signal/logged-event.js';
import { serializeJson } from '../../../signal/json.js';
import type { Micros } from '../../../signal/time.js';
import type { RowOf } from '../../../worker/columns.js';
import type { LOG_WIRE } from '../../schema/log-tables.js';
import { bodyText, tokensOf } from '../../shared/log-text.js';
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
    const body = bodyText(record.body)?.toWellFormed() ?? null;
    const attributes = isEmpty(record.attributes) ? null : serializeJson(record.attributes);
    const words = body === null ? '' : wordsOf(body);
    const length = (body?.length ?? 0) + (attributes?.length ?? 0);
    bytes += FIXED_BYTES + length + words.length;
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
      event_name: (loggedEventName(record) ?? record.event_name)?.toWellFormed() ?? null,
      body,
      attributes,
      bytes: length,
      origin: origins.of(origin),
      words,
    };
  });
  return { rows, bytes };
}

/** A text's tokens with a space before, between and after them, so that a phrase is a substring; empty without tokens. */
export function wordsOf(text: string): string {
  const tokens = tokensOf(text);
  return tokens.length === 0 ? '' : ` ${tokens.join(' ')} `;
}

function isEmpty(object: object): boolean {
  for (const _key in object) return false;
  return true;
}
