import type { LogsBatch } from '../../../signal/batch.js';
import { SEVERITIES, type LogRecord } from '../../../signal/log-record.js';
import { eventNameOf, loggedEventName } from '../../../signal/logged-event.js';
import type { Micros } from '../../../signal/time.js';
import type { Origin } from '../../../signal/origin.js';
import { ColumnsWriter } from '../../../worker/columns-writer.js';
import { transferables, type Column, type ColumnsMessage } from '../../../worker/columns.js';
import { TextScratch } from '../../../worker/text-scratch.js';
import { scoresOfLogs, type ScoreRow } from '../../incoming/score-rows.js';
import { bodyText, searchedTexts } from '../../shared/log-text.js';
import { indexOf } from '../../schema/table.js';
import { LOG_WIRE } from '../../schema/log-tables.js';
import type { BatchName } from '../../shared/batch-name.js';
import type { Charge } from '../../incoming/encode-traces.js';
import { encodeOrigins } from './origin-message.js';
import { SharedParts } from './shared-parts.js';
import { serializeJson } from '../../../signal/json.js';

/** A record as sent to the store thread: its columns, and the position of its origin in the message. */
export const LOG_MESSAGE: readonly Column[] = [
  ...LOG_WIRE,
  { name: 'origin', kind: 'uint32', sql: 'UINTEGER' },
];

/** A batch of log records, in order, before its tenant is resolved. */
export interface EncodedLogs {
  readonly logs: ColumnsMessage;
  readonly origins: ColumnsMessage;
  /** The rows of GenAI events, which hold the input or output of the model call of a span. */
  readonly events: readonly number[];
  /** The scores that records report; absent for none. */
  readonly scores?: readonly ScoreRow[];
}

/** A batch in the format of messages to the store thread. */
export interface LogsMessage extends EncodedLogs {
  readonly tenant: number;
  /** Present if the batch counts towards a quota. */
  readonly counted?: Charge;
  /** Present if the sender named the batch. */
  readonly name?: BatchName;
}

const C = {
  id: indexOf(LOG_MESSAGE, 'id'),
  timestamp: indexOf(LOG_MESSAGE, 'timestamp'),
  observed_at: indexOf(LOG_MESSAGE, 'observed_at'),
  severity: indexOf(LOG_MESSAGE, 'severity'),
  severity_number: indexOf(LOG_MESSAGE, 'severity_number'),
  severity_text: indexOf(LOG_MESSAGE, 'severity_text'),
  service_name: indexOf(LOG_MESSAGE, 'service_name'),
  trace_id: indexOf(LOG_MESSAGE, 'trace_id'),
  span_id: indexOf(LOG_MESSAGE, 'span_id'),
  flags: indexOf(LOG_MESSAGE, 'flags'),
  event_name: indexOf(LOG_MESSAGE, 'event_name'),
  body: indexOf(LOG_MESSAGE, 'body'),
  normal: indexOf(LOG_MESSAGE, 'normal'),
  attributes: indexOf(LOG_MESSAGE, 'attributes'),
  bytes: indexOf(LOG_MESSAGE, 'bytes'),
  other_text: indexOf(LOG_MESSAGE, 'other_text'),
  origin: indexOf(LOG_MESSAGE, 'origin'),
};

/** Encodes batches of log records as columns. Keeps scratch memory: create one per thread. */
export class LogsEncoder {
  readonly #text = new TextScratch();

  encode(batch: Pick<LogsBatch, 'items'>, receivedAt: Micros): EncodedLogs {
    const logs = new ColumnsWriter(LOG_MESSAGE, batch.items.length, this.#text);
    const origins = new SharedParts<Origin>();
    const events: number[] = [];
    batch.items.forEach((record, row) => {
      if (this.#write(logs, row, record)) events.push(row);
      logs.uint32(C.origin, row, origins.positionOf(record.origin));
    });
    const scores = scoresOfLogs(batch.items, receivedAt);
    return {
      logs: logs.finish(),
      origins: encodeOrigins(origins.parts),
      events,
      ...(scores.length > 0 && { scores }),
    };
  }

  /** @returns whether it is a GenAI event of a span */
  #write(to: ColumnsWriter, row: number, record: LogRecord): boolean {
    to.uuid(C.id, row, record.id);
    to.int64(C.timestamp, row, record.timestamp);
    if (record.observed_at === null) to.isNull(C.observed_at, row);
    else to.int64(C.observed_at, row, record.observed_at);
    to.byte(C.severity, row, SEVERITIES.indexOf(record.severity));
    to.int32(C.severity_number, row, record.severity_number);
    to.text(C.severity_text, row, record.severity_text);
    to.text(C.service_name, row, record.origin.serviceName);
    if (record.trace_id === null) to.isNull(C.trace_id, row);
    else to.uuid(C.trace_id, row, record.trace_id);
    if (record.span_id === null) to.isNull(C.span_id, row);
    else to.uuid(C.span_id, row, record.span_id);
    to.uint32(C.flags, row, record.flags);
    to.value(C.event_name, 'text', row, eventNameOf(record));
    const attributeBytes = this.#writeAttributes(to, row, record);
    const texts = searchedTexts(bodyText(record.body), record.event_name, record.attributes);
    to.uint32(C.bytes, row, attributeBytes + this.#writeBody(to, row, texts.body));
    to.value(C.normal, 'text', row, texts.normal);
    to.value(C.other_text, 'text', row, texts.other);
    return loggedEventName(record) !== null;
  }

  /** @returns the bytes it takes */
  #writeAttributes(to: ColumnsWriter, row: number, { attributes }: LogRecord): number {
    const start = this.#text.length;
    if (isEmpty(attributes)) to.isNull(C.attributes, row);
    else to.text(C.attributes, row, serializeJson(attributes));
    return this.#text.length - start;
  }

  /** @returns the bytes it takes */
  #writeBody(to: ColumnsWriter, row: number, body: string | null): number {
    const start = this.#text.length;
    to.value(C.body, 'text', row, body);
    return this.#text.length - start;
  }
}

export function transferablesOf({ logs, origins }: EncodedLogs): ArrayBuffer[] {
  return [logs, origins].flatMap(transferables);
}

function isEmpty(object: object): boolean {
  for (const _key in object) return false;
  return true;
}
