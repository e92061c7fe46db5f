import type { LogRecord } from '../../signal/log-record.js';
import { loggedEventName, type LoggedEvent } from '../../signal/logged-event.js';

/** The GenAI events among log records, by the span that they belong to: in the order of time, then as they came. */
export function eventsBySpan(records: readonly LogRecord[]): ReadonlyMap<string, readonly LoggedEvent[]> {
  const bySpan = new Map<string, LoggedEvent[]>();
  for (const record of records.toSorted((a, b) => a.timestamp - b.timestamp)) {
    const { span_id: span, timestamp, body, attributes } = record;
    const name = loggedEventName(record);
    if (name === null || span === null) continue;
    const known = bySpan.get(span);
    const event = { name, timestamp, body, attributes };
    if (known === undefined) bySpan.set(span, [event]);
    else known.push(event);
  }
  return bySpan;
}
