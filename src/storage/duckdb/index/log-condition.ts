import { SEVERITIES } from '../../../signal/log-record.js';
import { isAscii, phrasesOf } from '../../shared/log-text.js';
import type { LogFilter, LogCursor } from '../../contracts/logs.js';
import type { Parameter } from '../files/plain-rows.js';
import { severityTerm, type Term } from './terms.js';

/** A search, and the cursor after which it continues. */
export interface PlacedFilter extends LogFilter {
  /** Its id is in the store's own format. */
  readonly after?: LogCursor;
}

/** A search in the forms that its steps need. */
export interface LogSearch {
  /** Every record that is found has all of these. */
  readonly terms: readonly Term[];
  /** The SQL condition on a row for the phrases that terms cannot decide; null if there are none. */
  readonly phraseCondition: string | null;
  /** The whole filter as a condition on a row. */
  readonly condition: { readonly sql: string; readonly values: readonly Parameter[] };
}

/**
 * @param filter untrusted: tokens are letters and digits and are inserted into the SQL unchanged, ids must be normalized, and
 *   everything else becomes a parameter
 */
export function logSearch(tenant: number, filter: PlacedFilter): LogSearch {
  const phrases = phrasesOf(filter.query ?? '');
  const tokens = new Set(phrases.flat());
  const open = phrases.filter((phrase) => phrase.length > 1).map(phraseCondition);
  const sql = [`tenant = ${tenant}`];
  const values: Parameter[] = [];
  const terms: Term[] = [...tokens].map((value) => ({ kind: 'token', value }));
  if (filter.start_time !== undefined) sql.push(`timestamp >= make_timestamp(${filter.start_time})`);
  if (filter.end_time !== undefined) sql.push(`timestamp <= make_timestamp(${filter.end_time})`);
  if (filter.after !== undefined) sql.push(isBehind(filter.after));
  if (filter.severity !== undefined) {
    terms.push(severityTerm(filter.severity));
    sql.push(`severity = ${SEVERITIES.indexOf(filter.severity)}`);
  }
  if (filter.trace_id !== undefined) {
    terms.push({ kind: 'trace', value: filter.trace_id });
    sql.push(`trace_id = '${filter.trace_id}'::UUID`);
  }
  if (filter.span_id !== undefined) sql.push(`span_id = '${filter.span_id}'::UUID`);
  if (filter.service_name !== undefined) {
    terms.push({ kind: 'service', value: filter.service_name });
    values.push(filter.service_name);
    sql.push(`service_name = $${values.length}`);
  }
  sql.push(...phrases.map(phraseCondition));
  return {
    terms,
    phraseCondition: open.length === 0 ? null : open.join(' AND '),
    condition: { sql: sql.join(' AND '), values },
  };
}

/** The condition that a record comes after a cursor, in a form that allows pruning row groups. */
export function isBehind({ timestamp, id }: LogCursor): string {
  const time = `make_timestamp(${timestamp})`;
  return `timestamp <= ${time} AND (timestamp < ${time} OR id < '${id}'::UUID)`;
}

/**
 * The condition that a body has the tokens, adjacent and whole. The longest token is matched first, which leaves few rows for the
 * regular expression; within a `CASE` both would run for every row.
 */
function phraseCondition(phrase: readonly string[]): string {
  const inNormal = `contains(normal, ' ${phrase.join(' ')} ')`;
  if (!phrase.every(isAscii)) return inNormal;
  const longest = phrase.reduce((a, b) => (b.length > a.length ? b : a));
  const pattern = `(^|[^a-z0-9])${phrase.join('[^a-z0-9]+')}([^a-z0-9]|$)`;
  const inBody = `regexp_matches(lower(body), '${pattern}')`;
  return `contains(coalesce(normal, lower(body)), '${longest}') AND CASE WHEN normal IS NULL THEN ${inBody} ELSE ${inNormal} END`;
}
