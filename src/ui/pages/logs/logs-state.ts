import { flag, oneOf, text, type StateOf } from '../../state/codec.js';
import { rangeField, stretchOf } from '../../state/range.js';

/** As the API names them, the least severe first. */
const SEVERITIES = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

/** What the URL of the page says. */
export const LOGS_STATE = {
  q: text(),
  range: rangeField('24h'),
  severity: oneOf(['', ...SEVERITIES], ''),
  service: text(),
  trace: text(),
  span: text(),
  /** New records come by themselves. */
  live: flag(),
  /** The record that is shown whole: {@link printPlace}. */
  record: text(),
};

export type LogsState = StateOf<typeof LOGS_STATE>;

/** What is searched for, as the API calls it, without its times. */
export function logFilter({ q, severity, service, trace, span }: LogsState) {
  return {
    ...(q === '' ? {} : { query: q }),
    ...(severity === '' ? {} : { severity }),
    ...(service === '' ? {} : { service_name: service }),
    ...(trace === '' ? {} : { trace_id: trace, ...(span === '' ? {} : { span_id: span }) }),
  };
}

/** @returns whether anything but the time is chosen */
export function isFiltered(state: LogsState): boolean {
  return Object.keys(logFilter(state)).length > 0;
}

/** Whether a range goes on, so that new records belong to it. */
export function goesOn(range: string): boolean {
  return stretchOf(range, 0)?.end === undefined;
}

/** Where a record lies, for a link to it: there is no looking up by id alone. */
export interface RecordPlace {
  readonly timestamp: string;
  readonly id: string;
}

export function printPlace({ timestamp, id }: RecordPlace): string {
  return `${timestamp}~${id}`;
}

/** @returns undefined where the text is none */
export function parsePlace(value: string): RecordPlace | undefined {
  const [timestamp = '', id = ''] = value.split('~');
  return Number.isNaN(Date.parse(timestamp)) || id === '' ? undefined : { timestamp, id };
}
