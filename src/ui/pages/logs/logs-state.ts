import { flag, oneOf, text, type StateOf } from '../../state/codec.js';
import { isFixed, PAGE_RANGES, rangeField } from '../../state/range.js';

/** API names, the least severe first. */
export const SEVERITIES = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/** URL state of the page. */
export const LOGS_STATE = {
  q: text(),
  range: rangeField(PAGE_RANGES['/logs'], true),
  severity: oneOf(['', ...SEVERITIES], ''),
  service: text(),
  trace: text(),
  span: text(),
  /** An event name. */
  event: text(),
  /** An attribute, as `KEY=VALUE`. */
  attribute: text(),
  /** Show new records automatically. */
  live: flag(),
  /** Columns, see `parts/columns.ts`. */
  cols: text(),
  /** The open record, see {@link printPlace}. */
  record: text(),
};

export type LogsState = StateOf<typeof LOGS_STATE>;

/** The API filters, without times. */
export function logFilter({ q, severity, service, trace, span, event, attribute }: LogsState) {
  const equals = attribute.indexOf('=');
  return {
    ...(q === '' ? {} : { query: q }),
    ...(severity === '' ? {} : { severity }),
    ...(service === '' ? {} : { service_name: service }),
    ...(trace === '' ? {} : { trace_id: trace, ...(span === '' ? {} : { span_id: span }) }),
    ...(event === '' ? {} : { event_name: event }),
    ...(equals < 0 ? {} : { [`attribute.${attribute.slice(0, equals)}`]: attribute.slice(equals + 1) }),
  };
}

/** @returns whether any filter other than the period is set */
export function isFiltered(state: LogsState): boolean {
  return Object.keys(logFilter(state)).length > 0;
}

/** Whether a range includes the present, so that new records belong to it. */
export function goesOn(range: string): boolean {
  return !isFixed(range);
}

/** Location of a record for links; records have no lookup by id alone. */
export interface RecordPlace {
  readonly timestamp: string;
  readonly id: string;
}

export function printPlace({ timestamp, id }: RecordPlace): string {
  return `${timestamp}~${id}`;
}

/** @returns undefined for invalid text */
export function parsePlace(value: string): RecordPlace | undefined {
  const [timestamp = '', id = ''] = value.split('~');
  return Number.isNaN(Date.parse(timestamp)) || id === '' ? undefined : { timestamp, id };
}
