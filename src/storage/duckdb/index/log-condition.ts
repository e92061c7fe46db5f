import { SEVERITIES } from '../../../signal/log-record.js';
import { EVENT_NAME_ATTRIBUTE } from '../../../signal/logged-event.js';
import { isAscii } from '../../shared/log-text.js';
import {
  NO_CONDITIONS,
  parseTextQuery,
  type TextConditions,
  type TextQuery,
} from '../../shared/text-query.js';
import type { LogFilter, LogCursor } from '../../contracts/logs.js';
import { literal } from '../files/database.js';
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
  /** SQL condition on a row for phrases, signs and attributes, which terms cannot decide; null if the query has none. */
  readonly openCondition: string | null;
  /** The whole filter as a condition on a row. */
  readonly condition: { readonly sql: string; readonly values: readonly Parameter[] };
}

/** For a query that contains nothing searchable. No record has this term, because tokens have no spaces. */
const NOTHING: TextQuery = { ...NO_CONDITIONS, phrases: [[' ']], without: NO_CONDITIONS };

/** @param filter untrusted: tokens are letters and digits and are inserted into the SQL unchanged; ids must be normalized */
export function logSearch(tenant: number, filter: PlacedFilter): LogSearch {
  const query = parseTextQuery(filter.query ?? '') ?? NOTHING;
  const { phrases, prefixes, without } = query;
  // A prefix is not a term.
  const tokens = new Set([...phrases.flat(), ...prefixes.flatMap((phrase) => phrase.slice(0, -1))]);
  const open = [
    // Its term selects no compacted record, but as a regular expression it would match spaces.
    ...(query === NOTHING ? ['FALSE'] : []),
    ...textConditions({ ...query, phrases: phrases.filter((phrase) => phrase.length > 1) }),
    ...textConditions(without).map((condition) => `NOT coalesce(${condition}, FALSE)`),
    ...(filter.event_name === undefined ? [] : [eventCondition(filter.event_name)]),
    ...Object.entries(filter.attributes ?? {}).map(attributeCondition),
  ];
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
  const words = phrases.filter((phrase) => phrase.length === 1);
  sql.push(...textConditions({ ...NO_CONDITIONS, phrases: words }), ...open);
  return {
    terms,
    openCondition: open.length === 0 ? null : open.join(' AND '),
    condition: { sql: sql.join(' AND '), values },
  };
}

/** The condition that a record comes after a cursor, in a form that allows pruning row groups. */
export function isBehind({ timestamp, id }: LogCursor): string {
  const time = `make_timestamp(${timestamp})`;
  return `timestamp <= ${time} AND (timestamp < ${time} OR id < '${id}'::UUID)`;
}

function textConditions({ phrases, prefixes, literals }: TextConditions): string[] {
  return [
    ...phrases.map((phrase) => phraseCondition(phrase, false)),
    ...prefixes.map((phrase) => phraseCondition(phrase, true)),
    ...literals.map(literalCondition),
  ];
}

/**
 * The condition that a record has the tokens, adjacent and whole, except for the end of a prefix. The longest token is matched first, which leaves few rows for the
 * regular expression; within a `CASE` both would run for every row.
 */
function phraseCondition(phrase: readonly string[], isPrefix: boolean): string {
  const inNormal = `contains(normal, ' ${phrase.join(' ')}${isPrefix ? '' : ' '}')`;
  if (!phrase.every(isAscii)) return inNormal;
  const longest = phrase.reduce((a, b) => (b.length > a.length ? b : a));
  const pattern = `(^|[^a-z0-9])${phrase.join('[^a-z0-9\\x1f]+')}${isPrefix ? '' : '([^a-z0-9]|$)'}`;
  const has = (condition: (text: string) => string): string =>
    `(${condition('lower(body)')} OR ${condition('lower(other_text)')})`;
  return `((contains(normal, '${longest}') OR ${has((text) => `contains(${text}, '${longest}')`)}) AND CASE WHEN normal IS NULL THEN ${has((text) => `regexp_matches(${text}, '${pattern}')`)} ELSE ${inNormal} END)`;
}

/** The condition that a record contains a text in any searched field. */
function literalCondition(text: string): string {
  const value = literal(text);
  return `(contains(body, ${value}) OR contains(other_text, ${value}) OR contains(normal, ${value}))`;
}

/** Older records may have the event name only as an attribute. */
function eventCondition(name: string): string {
  return `(event_name = ${literal(name)} OR (event_name IS NULL AND ${attributeCondition([EVENT_NAME_ATTRIBUTE, name])}))`;
}

/** The value of an attribute as text, in SQL. */
export function attributeValue(key: string): string {
  return textInJson('attributes', key);
}

/** A value of a JSON object as text, or the JSON of other values, in SQL. */
export function textInJson(column: string, key: string): string {
  const pointer = `/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  return `json_extract_string(${column}, ${literal(pointer)})`;
}

/** Searches the text first, because parsing the JSON of every row is slow. */
function attributeCondition([key, value]: readonly [string, string]): string {
  const inJson = JSON.stringify(value).slice(1, -1);
  const isText = `contains(attributes, ${literal(inJson)})`;
  const isOther = `contains(attributes, ${literal(value)})`;
  return `(${isText} OR ${isOther}) AND ${attributeValue(key)} = ${literal(value)}`;
}
