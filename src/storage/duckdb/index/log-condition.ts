import { SEVERITIES } from '../../../signal/log-record.js';
import { isAscii, phrasesOf } from '../../shared/log-text.js';
import type { LogFilter, LogCursor } from '../../contracts/logs.js';
import type { Parameter } from '../files/plain-rows.js';
import { severityTerm, type Term } from './terms.js';

/** What a search looks for, and behind which place. */
export interface PlacedFilter extends LogFilter {
  /** Its id is one that was printed by the store. */
  readonly after?: LogCursor;
}

/** A search in the forms that its steps need. */
export interface LogSearch {
  /** Every record that is found has all of these. */
  readonly terms: readonly Term[];
  /** The condition, on a row, for what the terms leave open; null where they leave nothing. */
  readonly phraseCondition: string | null;
  /** The whole filter as a condition on a row. */
  readonly condition: { readonly sql: string; readonly values: readonly Parameter[] };
}

/**
 * @param filter its texts come from outside: tokens are letters and digits and stand in the SQL as they are, ids are printed anew
 *   by the store, and everything else becomes a value
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

/** The condition that a record comes behind a place, in a form by which row groups are pruned. */
export function isBehind({ timestamp, id }: LogCursor): string {
  const time = `make_timestamp(${timestamp})`;
  return `timestamp <= ${time} AND (timestamp < ${time} OR id < '${id}'::UUID)`;
}

/**
 * The condition that a body has the tokens, side by side and whole. The longest of them is looked for first, which leaves the
 * regular expression little to do; within a `CASE` both would be done for every row.
 */
function phraseCondition(phrase: readonly string[]): string {
  const inNormal = `contains(normal, ' ${phrase.join(' ')} ')`;
  if (!phrase.every(isAscii)) return inNormal;
  const longest = phrase.reduce((a, b) => (b.length > a.length ? b : a));
  const pattern = `(^|[^a-z0-9])${phrase.join('[^a-z0-9]+')}([^a-z0-9]|$)`;
  const inBody = `regexp_matches(lower(body), '${pattern}')`;
  return `contains(coalesce(normal, lower(body)), '${longest}') AND CASE WHEN normal IS NULL THEN ${inBody} ELSE ${inNormal} END`;
}
