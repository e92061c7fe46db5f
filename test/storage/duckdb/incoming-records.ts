import type { SpanRecord } from '../../../src/signal/span.js';
import type { TraceHeader } from '../../../src/signal/trace.js';
import type { NamedHeader } from '../../../src/runs/rules/following-header.js';
import { headerAt, payloadAt } from '../../../src/storage/incoming/incoming-rows.js';
import type { Payload } from '../../../src/runs/rules/payload.js';
import type { SpanRow } from '../../../src/runs/rules/rows.js';
import { IncomingBatch } from '../../../src/storage/incoming/incoming-batch.js';
import { aHeader, aSpanRecord } from '../../support/run-records.js';
import { tracesMessage } from './traces-message.js';

/** Records as the store thread receives them. */

const TRACE_ID = '00000000-0000-4000-8000-000000000001';

function incoming(header: TraceHeader, spans: SpanRecord[]): IncomingBatch {
  return new IncomingBatch(tracesMessage(1, { items: [{ trace: header, spans }] }, 0));
}

export function headerRow(changes: Partial<TraceHeader>): NamedHeader {
  return headerAt(incoming(aHeader({ trace_id: TRACE_ID, ...changes }), []), 0);
}

export function spanRow(changes: Partial<SpanRecord>): { row: SpanRow; payload: Payload } {
  const batch = incoming(aHeader({ trace_id: TRACE_ID }), [aSpanRecord(TRACE_ID, changes)]);
  return { row: batch.span(0), payload: payloadAt(batch, 0, 0) };
}
