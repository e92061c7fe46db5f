import { SEVERITIES } from '../../../signal/log-record.js';
import { EVENT_NAME_ATTRIBUTE } from '../../../signal/logged-event.js';
import { parseTextQuery, type TextConditions } from '../../shared/text-query.js';
import type { LogFilter, LogCursor } from '../../contracts/logs.js';
import { quoted, quotedList, quotedUuid } from '../client/literals.js';

/** Limit of `hasAllTokens`. */
const MOST_TOKENS = 64;

/** The condition on records that a search finds, in SQL. */
export function logCondition(tenant: number, filter: LogFilter): string {
  const { service_name, severity, trace_id, span_id, start_time, end_time, event_name } = filter;
  return [
    `tenant = ${String(tenant)}`,
    ...(start_time === undefined ? [] : [`timestamp >= ${String(start_time)}`]),
    ...(end_time === undefined ? [] : [`timestamp <= ${String(end_time)}`]),
    ...(severity === undefined ? [] : [`severity = ${String(SEVERITIES.indexOf(severity))}`]),
    ...(service_name === undefined ? [] : [`service_name = ${quoted(service_name)}`]),
    ...(trace_id === undefined ? [] : [`trace_id = ${quotedUuid(trace_id)}`]),
    ...(span_id === undefined ? [] : [`span_id = ${quotedUuid(span_id)}`]),
    ...(event_name === undefined ? [] : [eventCondition(event_name)]),
    ...Object.entries(filter.attributes ?? {}).map(attributeCondition),
    ...textConditions(filter.query ?? ''),
  ].join(' AND ');
}

/** SQL condition for records after a cursor in search order. */
export function isBehind({ timestamp, id }: LogCursor): string {
  const at = String(timestamp);
  return `timestamp <= ${at} AND (timestamp < ${at} OR toUInt128(id) < toUInt128(${quotedUuid(id)}))`;
}

/** SQL condition for records at some cursors, at least one. */
export function recordsAt(tenant: number, places: readonly LogCursor[]): string {
  const times = [...new Set(places.map(({ timestamp }) => timestamp))].join(', ');
  const ids = places.map(({ id }) => quotedUuid(id)).join(', ');
  return `tenant = ${String(tenant)} AND timestamp IN (${times}) AND id IN (${ids})`;
}

/** The index finds the records with all words; phrases and prefixes are then checked on those records. */
function textConditions(query: string): string[] {
  const parsed = parseTextQuery(query);
  if (parsed === null) return ['0'];
  const { phrases, prefixes, literals, without } = parsed;
  const tokens = [...new Set([...phrases.flat(), ...prefixes.flatMap((phrase) => phrase.slice(0, -1))])];
  const words: string[] = [];
  for (let at = 0; at < tokens.length; at += MOST_TOKENS)
    words.push(`hasAllTokens(words, ${quotedList(tokens.slice(at, at + MOST_TOKENS))})`);
  const neighbours = phrases.filter((phrase) => phrase.length > 1);
  return [
    ...words,
    ...new Set(wordConditions({ phrases: neighbours, prefixes, literals })),
    ...wordConditions(without).map((condition) => `NOT ${condition}`),
  ];
}

function wordConditions({ phrases, prefixes, literals }: TextConditions): string[] {
  const has = (text: string): string => `(position(words, ${quoted(text)}) > 0)`;
  return [
    ...phrases.map((phrase) => has(` ${phrase.join(' ')} `)),
    ...prefixes.map((phrase) => has(` ${phrase.join(' ')}`)),
    ...literals.map(literalCondition),
  ];
}

/** The condition that a record contains a text in any searched field. */
function literalCondition(text: string): string {
  const parts = ["ifNull(body, '')", "ifNull(other_text, '')", 'words'];
  return `(${parts.map((part) => `position(${part}, ${quoted(text)}) > 0`).join(' OR ')})`;
}

/** Older records may have the event name only as an attribute. */
function eventCondition(name: string): string {
  return `(event_name = ${quoted(name)} OR (isNull(event_name) AND ${attributeCondition([EVENT_NAME_ATTRIBUTE, name])}))`;
}

/** The value of an attribute as text, or JSON of another value, in SQL. */
export function attributeValue(key: string): string {
  const at = `ifNull(attributes, ''), ${quoted(key)}`;
  return `if(JSONType(${at}) = 'String', JSONExtractString(${at}), JSONExtractRaw(${at}))`;
}

/** A value of a JSON object as text, or the JSON of other values; null if missing or null. */
export function textInJson(column: string, key: string): string {
  const at = `ifNull(${column}, ''), ${quoted(key)}`;
  return `multiIf(JSONType(${at}) = 'String', JSONExtractString(${at}), JSONType(${at}) = 'Null', NULL, JSONExtractRaw(${at}))`;
}

/** Searches the text first, because parsing the JSON of every row is slow. */
function attributeCondition([key, value]: readonly [string, string]): string {
  const json = "ifNull(attributes, '')";
  const at = `${json}, ${quoted(key)}`;
  const has = (text: string): string => `position(${json}, ${quoted(text)}) > 0`;
  return `(${has(JSON.stringify(value).slice(1, -1))} OR ${has(value)}) AND JSONHas(${at}) AND ${attributeValue(key)} = ${quoted(value)}`;
}
