import { randomUUID } from 'node:crypto';
import type { JsonObject, LogRecord, Severity } from 'jackdaw';

/** Severity, OpenTelemetry severity number and text by syslog severity, 0 to 7. */
const SEVERITIES: readonly (readonly [Severity, number, string])[] = [
  ['fatal', 24, 'EMERG'],
  ['fatal', 22, 'ALERT'],
  ['fatal', 21, 'CRIT'],
  ['error', 17, 'ERR'],
  ['warn', 13, 'WARNING'],
  ['info', 10, 'NOTICE'],
  ['info', 9, 'INFO'],
  ['debug', 5, 'DEBUG'],
];

const PRIORITY = /^<(\d{1,3})>/;
/** `<34>1 2026-01-15T12:00:00.003Z host app 1234 ID47 [data] message`; `-` marks a missing value. */
const RFC_5424 = /^<\d{1,3}>1 (\S+) (\S+) (\S+) (\S+) (\S+) (-|(?:\[(?:[^\]\\]|\\.)*\])+)(?: (.*))?$/s;
/** `<34>Jan 15 12:00:00 host app[1234]: message` */
const RFC_3164 =
  /^<\d{1,3}>[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (\S+) ([^\s:[]{1,48})(?:\[(\d+)\])?: ?(.*)$/s;

const MAX_CHARACTERS = 65_536;

/**
 * Parses a syslog datagram. Times of the older format have no year and no zone, so those records get the time of arrival.
 *
 * @param now in microseconds
 * @returns undefined if it does not start with a priority
 */
export function parseSyslog(message: Uint8Array, now: number, sender: string): LogRecord | undefined {
  const text = new TextDecoder()
    .decode(message)
    .replace(/^\uFEFF/, '')
    .trimEnd()
    .slice(0, MAX_CHARACTERS)
    .toWellFormed();
  const priority = Number(PRIORITY.exec(text)?.[1] ?? NaN);
  const [severity, severityNumber, severityText] = SEVERITIES[priority % 8] ?? [];
  if (severity === undefined || severityNumber === undefined || severityText === undefined || priority > 191)
    return undefined;
  const { time, host, app, process, id, data, body } = partsOf(text);
  const sentAt = time === undefined ? NaN : Date.parse(time) * 1000;
  const attributes: JsonObject = {
    'syslog.facility.code': Math.floor(priority / 8),
    'client.address': sender,
  };
  if (process !== undefined) attributes['process.pid'] = process;
  if (id !== undefined) attributes['syslog.msg.id'] = id;
  if (data !== undefined) attributes['syslog.structured_data'] = data;
  const service = app ?? 'syslog';
  return {
    id: randomUUID(),
    timestamp: Number.isNaN(sentAt) ? now : sentAt,
    observed_at: now,
    severity,
    severity_number: severityNumber,
    severity_text: severityText,
    body,
    trace_id: null,
    span_id: null,
    flags: 0,
    event_name: null,
    attributes,
    origin: {
      resource: { 'service.name': service, ...(host === undefined ? {} : { 'host.name': host }) },
      scope: null,
      serviceName: service,
    },
  };
}

interface Parts {
  readonly time?: string | undefined;
  readonly host?: string | undefined;
  readonly app?: string | undefined;
  readonly process?: string | undefined;
  readonly id?: string | undefined;
  readonly data?: string | undefined;
  readonly body: string;
}

function partsOf(text: string): Parts {
  const present = (value: string | undefined) => (value === '-' ? undefined : value);
  const newer = RFC_5424.exec(text);
  if (newer) {
    const [, time, host, app, process, id, data, body = ''] = newer;
    return {
      time: present(time),
      host: present(host),
      app: present(app),
      process: present(process),
      id: present(id),
      data: present(data),
      body: body.replace(/^\uFEFF/, ''),
    };
  }
  const older = RFC_3164.exec(text);
  if (older) {
    const [, host, app, process, body = ''] = older;
    return { host, app, process, body };
  }
  return { body: text.replace(PRIORITY, '') };
}
