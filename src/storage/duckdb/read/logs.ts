import { itemAt, invariant } from '../../../signal/checked.js';
import { SEVERITIES } from '../../../signal/log-record.js';
import { formatTime } from '../../../signal/time.js';
import { shownEventName } from '../../shared/logged-events.js';
import { selectList } from '../../schema/table.js';
import { ORIGINS } from '../../schema/tables.js';
import { LOG_WIRE, LOGS } from '../../schema/log-tables.js';
import type { Connection } from '../files/connection.js';
import type { Row } from '../files/plain-rows.js';
import { findInBlocks, type BlockMatches, type FoundInBlocks } from '../index/block-matches.js';
import { HotKeys } from '../index/hot-keys.js';
import { logSearch, type PlacedFilter } from '../index/log-condition.js';
import { type LogKey, keysByNumber } from '../index/log-keys.js';
import { pageOfKeys, type FoundKeys, type Wanted } from '../index/page-of-keys.js';
import { hotPartsOf, relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { PART_BYTES } from '../segments/read-limits.js';

/** Records per read: the result of one statement is held in memory. */
const SLICE_RECORDS = 200;

/** The columns that the API shows, and those that `details` adds. */
const SHOWN = [
  'id',
  'timestamp',
  'severity',
  'service_name',
  'event_name',
  'body',
  'trace_id',
  'span_id',
  'attributes',
];
const DETAILS = ['observed_at', 'severity_number', 'severity_text', 'flags'];

/** Some records of a page. */
export interface LogSlice {
  /** JSON with commas between the records. */
  readonly json: Uint8Array<ArrayBuffer>;
  /** Keys of the page's remaining records. */
  readonly rest: readonly LogKey[];
}

/** The keys of a page of found records, newest first, and the number of all found records. */
export async function searchLogs(
  connection: Connection,
  capture: Capture,
  tenant: number,
  filter: PlacedFilter,
  page: { readonly offset: number; readonly limit: number },
): Promise<{ readonly count: number; readonly keys: LogKey[] }> {
  const search = logSearch(tenant, filter);
  const hot = await HotKeys.find(connection, capture, search, page.offset + page.limit);
  const cold = await findInBlocks(connection, capture, tenant, filter, search);
  const count = cold.blocks.reduce((sum, block) => sum + block.count, hot.count);
  if (page.offset >= count) return { count, keys: [] };
  const keys = await pageOfKeys([hot, ...cold.blocks], page, (wanted) => readKeys(connection, cold, wanted));
  return { count, keys };
}

/**
 * Reads the first records of a page, up to {@link SLICE_RECORDS} and {@link PART_BYTES}. Records that retention removed since the
 * search are left out.
 *
 * @param details whether to add what the API shows with `details`
 */
export async function readLogs(
  connection: Connection,
  capture: Capture,
  tenant: number,
  keys: readonly LogKey[],
  details: boolean,
): Promise<LogSlice> {
  const slice = firstSlice(keys);
  const columns = details ? [...SHOWN, ...DETAILS] : SHOWN;
  const rows = await rowsOf(connection, capture, tenant, slice, columns);
  const origins = details ? await originsOf(connection, capture, [...rows.values()]) : null;
  const texts = slice.flatMap(({ id }) => {
    const row = rows.get(id);
    return row === undefined ? [] : logJson(row, origins);
  });
  return { json: new TextEncoder().encode(texts.join(',')), rest: keys.slice(slice.length) };
}

/** @param logId a UUID. @returns the trace of a record; null if it has none */
export async function readLogTrace(
  connection: Connection,
  capture: Capture,
  tenant: number,
  logId: string,
): Promise<string | null> {
  const where = `tenant = ${tenant} AND id = '${logId}'::UUID`;
  const [row] = await connection.rows(
    `SELECT trace_id::VARCHAR AS trace_id FROM ${relation(capture, LOGS, where)}`,
  );
  return typeof row?.trace_id === 'string' ? row.trace_id : null;
}

function firstSlice(keys: readonly LogKey[]): readonly LogKey[] {
  let bytes = 0;
  const end = keys.findIndex((key, i) => {
    bytes += key.bytes;
    return i === SLICE_RECORDS || (i > 0 && bytes > PART_BYTES);
  });
  return end < 0 ? keys : keys.slice(0, end);
}

/**
 * The rows of records by id; those in the cold file are read by number. A record that is not found there was moved, or its block
 * was merged, so it is searched by id.
 */
async function rowsOf(
  connection: Connection,
  capture: Capture,
  tenant: number,
  keys: readonly LogKey[],
  columns: readonly string[],
): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>();
  const list = selectList(LOG_WIRE.filter(({ name }) => columns.includes(name)));
  const add = async (from: string): Promise<void> => {
    const found = await connection.rows(`SELECT ${list}, origin_no FROM (${from})`);
    for (const row of found) rows.set(String(row.id), row);
  };
  const numbers = keys.flatMap(({ log_no }) => (log_no === 0 ? [] : log_no));
  if (numbers.length > 0) {
    await add(`SELECT * FROM cold.main.logs WHERE tenant = ${tenant} AND log_no IN (${numbers.join(', ')})`);
  }
  const hot = keys.filter(({ log_no }) => log_no === 0);
  const inHot = hot.length === 0 ? [] : hotPartsOf(capture, LOGS, withIds(tenant, hot));
  if (inHot.length > 0) await add(inHot.join(' UNION ALL '));
  const moved = keys.filter(({ id }) => !rows.has(id));
  if (moved.length > 0) await add(`SELECT * FROM cold.main.logs WHERE ${withIds(tenant, moved)}`);
  return rows;
}

function withIds(tenant: number, keys: readonly LogKey[]): string {
  const times = keys.map(({ timestamp }) => timestamp);
  const ids = keys.map(({ id }) => `'${id}'::UUID`).join(', ');
  return `tenant = ${tenant} AND timestamp >= make_timestamp(${Math.min(...times)}) AND timestamp <= make_timestamp(${Math.max(...times)}) AND id IN (${ids})`;
}

/** By number, the resource and scope as the inside of a JSON object: `"resource":…,"scope":…`. */
async function originsOf(
  connection: Connection,
  capture: Capture,
  rows: readonly Row[],
): Promise<Map<number, string>> {
  const numbers = [...new Set(rows.map((row) => Number(row.origin_no)))];
  if (numbers.length === 0) return new Map();
  const where = `origin_no IN (${numbers.join(', ')})`;
  const found = await connection.rows(`SELECT origin_no, origin FROM ${relation(capture, ORIGINS, where)}`);
  return new Map(found.map((row) => [Number(row.origin_no), String(row.origin).slice(1, -1)]));
}

/** A record as the API shows it; its attributes are passed through as stored JSON. */
function logJson(row: Row, origins: ReadonlyMap<number, string> | null): string {
  const event_name = shownEventName(row);
  const head = JSON.stringify({
    id: row.id,
    timestamp: formatTime(Number(row.timestamp)),
    severity: itemAt(SEVERITIES, Number(row.severity)),
    service_name: row.service_name,
    ...((event_name !== null || origins !== null) && { event_name }),
    body: row.body,
    trace_id: row.trace_id,
    span_id: row.span_id,
  });
  const short = `${head.slice(0, -1)},"attributes":${String(row.attributes ?? '{}')}`;
  if (origins === null) return `${short}}`;
  const details = JSON.stringify({
    observed_at: row.observed_at === null ? null : formatTime(Number(row.observed_at)),
    severity_number: row.severity_number,
    severity_text: row.severity_text,
    flags: row.flags,
  });
  const origin = origins.get(Number(row.origin_no)) ?? '"resource":{},"scope":null';
  return `${short},${details.slice(1, -1)},${origin}}`;
}

/** The keys of some of the records that a search found, in hot segments and in blocks. */
async function readKeys(
  connection: Connection,
  cold: FoundInBlocks,
  wanted: readonly Wanted<HotKeys | BlockMatches>[],
): Promise<FoundKeys> {
  const inBlocks = wanted.flatMap(({ list, places }) => (list instanceof HotKeys ? [] : { list, places }));
  const numbers = await cold.numbers(inBlocks);
  const numbersOf = new Map(inBlocks.map(({ list }, i) => [list, itemAt(numbers, i)]));
  const keys = await keysByNumber(connection, numbers.flat());
  const found: (LogKey | undefined)[][] = [];
  for (const { list, places } of wanted) {
    if (list instanceof HotKeys) found.push(await list.at(places));
    else found.push(invariant(numbersOf.get(list), 'list of records').map((number) => keys.get(number)));
  }
  return found;
}
