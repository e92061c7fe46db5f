import { uuidV7 } from '../../src/signal/ids.js';
import type { LogRecord } from '../../src/signal/log-record.js';
import { NOON } from './run-records.js';

/** A log record of a service by default. */
export function aLog(changes: Partial<LogRecord> = {}): LogRecord {
  return {
    id: uuidV7(NOON / 1000),
    timestamp: NOON,
    observed_at: null,
    severity: 'info',
    severity_number: 9,
    severity_text: 'INFO',
    body: 'something happened',
    trace_id: null,
    span_id: null,
    flags: 0,
    event_name: null,
    attributes: {},
    origin: fromService('checkout'),
    ...changes,
  };
}

export function fromService(serviceName: string): LogRecord['origin'] {
  return { resource: { 'service.name': serviceName }, scope: null, serviceName };
}
