import type { LogAttributes, LogRecord } from '@opentelemetry/api-logs';
import { SeverityNumber } from '@opentelemetry/api-logs';

/** Levels whose lines may be sent. Sending writes debug lines itself, so these would never end. */
const SEVERITIES: Readonly<Record<string, SeverityNumber>> = {
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
};

export type SentLevel = 'info' | 'warn' | 'error';

/**
 * A line of the daemon's log as a log record.
 *
 * @param line JSON
 * @param least minimum level
 * @returns undefined for a lower level
 */
export function logRecordOf(line: string, least: SentLevel): LogRecord | undefined {
  const fields = JSON.parse(line) as Record<string, unknown>;
  const { level, time, msg, err, ...others } = fields;
  // The resource names the process.
  delete others['pid'];
  delete others['hostname'];
  const severityNumber = SEVERITIES[String(level)];
  if (severityNumber === undefined || severityNumber < (SEVERITIES[least] ?? 0)) return undefined;
  return {
    timestamp: new Date(String(time)),
    severityNumber,
    severityText: String(level),
    body: String(msg),
    // Read from JSON.
    attributes: { ...(others as LogAttributes), ...exceptionOf(err) },
  };
}

/** The fields of an error by their names in the semantic conventions. */
function exceptionOf(error: unknown): LogAttributes {
  if (typeof error !== 'object' || error === null) return {};
  const { type, message, stack } = error as Record<string, unknown>;
  return {
    'exception.type': String(type),
    'exception.message': String(message),
    ...(typeof stack === 'string' && { 'exception.stacktrace': stack }),
  };
}
