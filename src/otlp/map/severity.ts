import { SEVERITIES, type Severity } from '../../signal/log-record.js';

/** Numbers that each severity has: 1 to 4 are `trace`, 5 to 8 `debug`, and so on. */
const NUMBERS_EACH = 4;

/** Names that are used beside OpenTelemetry's own, in upper case (syslog's short forms among them). */
const NAMES: ReadonlyMap<string, Severity> = new Map<string, Severity>([
  ...SEVERITIES.map((severity): [string, Severity] => [severity.toUpperCase(), severity]),
  ['VERBOSE', 'debug'],
  ['INFORMATION', 'info'],
  ['NOTICE', 'info'],
  ['WARNING', 'warn'],
  ['ERR', 'error'],
  ['CRITICAL', 'fatal'],
  ['CRIT', 'fatal'],
  ['EMERGENCY', 'fatal'],
  ['EMERG', 'fatal'],
  ['ALERT', 'fatal'],
  ['PANIC', 'fatal'],
]);
/** OpenTelemetry's short names of the finer steps: `INFO2`. */
const STEP = /[2-4]$/;

/**
 * The severity of a log record: by its number; where that says nothing, by its text; `info` where neither
 * does.
 */
export function severityOf(number: number, text: string): Severity {
  if (number >= 1) {
    const severity = SEVERITIES[Math.floor((number - 1) / NUMBERS_EACH)];
    if (severity !== undefined) return severity;
  }
  if (text === '') return 'info';
  const name = text.trim().toUpperCase();
  return NAMES.get(name) ?? NAMES.get(name.replace(STEP, '')) ?? 'info';
}
