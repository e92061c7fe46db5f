import { itemAt } from '../../../signal/checked.js';
import { SEVERITIES, type Severity } from '../../../signal/log-record.js';
import type { Micros } from '../../../signal/time.js';
import { LOGS } from '../../schema/log-tables.js';
import {
  MOST_GROUP_VALUE,
  MOST_LOG_GROUPS,
  MOST_LOG_SERVICES,
  type LogBuckets,
  type LogFacets,
  type LogFilter,
  type LogGroups,
} from '../../contracts/logs.js';
import type { Connection } from '../files/connection.js';
import type { Parameter, Row } from '../files/plain-rows.js';
import { batchesOf, isOneOf, recordsWith } from '../index/block-matches.js';
import { isInRun, runsOf } from '../index/block-runs.js';
import type { BlockCounts, CountedBlocks, LogCount } from '../index/block-counts.js';
import { logBlocks, type LogBlock } from '../index/log-blocks.js';
import { attributeValue, logSearch, type LogSearch } from '../index/log-condition.js';
import { BLOCK_RECORDS } from '../index/compact-logs.js';
import { hashesOf } from '../index/terms.js';
import { hotPartsOf } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { bucketStart } from './model-series.js';

/** Maximum number of records in blocks searched per answer: half a second of one processor, with a phrase ten times as long. */
const MOST_RECORDS = 8_000_000;
/** Maximum number of distinct services while counting. */
const SERVICES_KEPT = 10_000;
const FIRST_ERROR = SEVERITIES.indexOf('error');

/** The records in one block that a search may find, and how many entries the lists of its words have there. */
interface Candidate {
  readonly block: LogBlock;
  readonly entries: number;
}

interface Parts {
  readonly capture: Capture;
  /** Cached counts of whole blocks. */
  readonly counts: BlockCounts;
  readonly tenant: number;
  /** Maximum number of records in searched blocks. */
  readonly mostRecords?: number;
}

/**
 * Counts the matches of a search by severity, service and time, newest block first. Blocks without a word of the search or the
 * trace are skipped, and words are matched against term lists instead of texts. If the search has only severity and service, a
 * block entirely within the time range is read once and its counts are cached.
 *
 * @param filter its ids are in the store's own format
 */
export async function readLogFacets(
  connection: Connection,
  { capture, counts: known, tenant, mostRecords = MOST_RECORDS }: Parts,
  filter: Omit<LogFilter, 'start_time' | 'end_time'>,
  { interval, start_time, end_time }: LogBuckets,
): Promise<LogFacets> {
  const { severity, service_name, ...rest } = filter;
  const times = { start_time, end_time };
  const search = logSearch(tenant, { ...rest, ...times });
  const counts = new FacetCounts({ severity, service_name });
  const count = async (parts: readonly string[]): Promise<void> => {
    if (parts.length === 0) return;
    const { sql, values } = statement(parts.join(' UNION ALL '), interval, severity, service_name);
    counts.add(await connection.rows(sql, values));
  };
  await count(hotPartsOf(capture, LOGS, search.condition.sql));

  const blocks = await logBlocks(connection, capture, tenant, times);
  const { candidates, hashes } = await candidatesOf(connection, capture, tenant, search, blocks);
  const of: CountedBlocks = { tenant, interval, bucket: bucketStart('epoch_us(timestamp)', interval) };
  const isWhole = ({ block: { oldest, newest } }: Candidate): boolean =>
    search.terms.length === 0 &&
    search.openCondition === null &&
    rest.span_id === undefined &&
    oldest >= start_time &&
    newest <= end_time;
  const keptOf = new Map(
    candidates.filter(isWhole).map(({ block }) => [block.block, known.get(of, block)] as const),
  );
  const { chosen, countedAfter } = newestOf(candidates, mostRecords, ({ block }) =>
    Boolean(keptOf.get(block)),
  );
  const uncounted = chosen.filter(
    ({ block }) => keptOf.has(block.block) && keptOf.get(block.block) === undefined,
  );
  const found = await known.read(
    connection,
    of,
    uncounted.map(({ block }) => block),
  );
  const left: Candidate[] = [];
  for (const candidate of chosen) {
    const { block } = candidate.block;
    const its = keptOf.get(block) ?? found.get(block);
    if (its) counts.addCounts(its);
    else left.push(candidate);
  }
  const matches = matchesIn(left, { tenant, filter: { ...rest, ...times }, search, hashes });
  for (const part of matches) await count([part]);
  return counts.result(countedAfter);
}

/**
 * Counts the matches of a search by values of attributes, newest block first; like {@link readLogFacets}.
 *
 * @param filter its ids are in the store's own format
 */
export async function readLogGroups(
  connection: Connection,
  { capture, tenant, mostRecords = MOST_RECORDS }: Omit<Parts, 'counts'>,
  filter: LogFilter,
  attributes: readonly string[],
): Promise<LogGroups> {
  const search = logSearch(tenant, filter);
  const found = new Map<string, { readonly values: readonly (string | null)[]; count: number }>();
  const names = attributes.map((_, i) => `v${i}`);
  const values = attributes.map((key, i) => `left(${attributeValue(key)}, ${MOST_GROUP_VALUE}) AS v${i}`);
  const count = async (records: string, parameters: readonly Parameter[] = []): Promise<void> => {
    const rows = await connection.rows(
      `SELECT ${[...values, 'count(*) AS count'].join(', ')} FROM (${records}) GROUP BY ${names.join(', ')} ORDER BY count DESC LIMIT ${MOST_LOG_GROUPS}`,
      parameters,
    );
    for (const row of rows) {
      const group = names.map((name) => (row[name] === null ? null : String(row[name])));
      const key = JSON.stringify(group);
      const known = found.get(key);
      if (known === undefined) found.set(key, { values: group, count: Number(row.count) });
      else known.count += Number(row.count);
    }
    if (found.size > 2 * MOST_LOG_GROUPS)
      for (const [key] of [...found].sort(([, a], [, b]) => b.count - a.count).slice(MOST_LOG_GROUPS))
        found.delete(key);
  };
  const hot = hotPartsOf(capture, LOGS, search.condition.sql);
  if (hot.length > 0) await count(hot.join(' UNION ALL '), search.condition.values);
  const blocks = await logBlocks(connection, capture, tenant, filter);
  const { candidates, hashes } = await candidatesOf(connection, capture, tenant, search, blocks);
  const { chosen, countedAfter } = newestOf(candidates, mostRecords, () => false);
  for (const part of matchesIn(chosen, { tenant, filter, search, hashes })) await count(part);
  const groups = [...found.values()].sort((a, b) => b.count - a.count).slice(0, MOST_LOG_GROUPS);
  return { groups, counted_after: countedAfter };
}

/** The matches of a search in some blocks, in SQL, in batches that can be counted at once. */
function* matchesIn(
  candidates: readonly Candidate[],
  {
    tenant,
    filter: { trace_id, span_id, start_time, end_time },
    search,
    hashes,
  }: {
    readonly tenant: number;
    readonly filter: LogFilter;
    readonly search: LogSearch;
    readonly hashes: readonly string[];
  },
): Generator<string> {
  // Words, and everything that terms cannot decide, are searched below.
  const { condition } = logSearch(tenant, {
    ...(trace_id !== undefined && { trace_id }),
    ...(span_id !== undefined && { span_id }),
    ...(start_time !== undefined && { start_time }),
    ...(end_time !== undefined && { end_time }),
  });
  for (const batch of batchesOf(candidates)) {
    const numbers = batch.map(({ block }) => block.block).sort((a, b) => a - b);
    const runs = runsOf(numbers).map(
      (run) => `SELECT * FROM cold.main.logs WHERE ${isInRun(run)} AND ${condition.sql}`,
    );
    const words = [withWords(numbers, hashes), search.openCondition ?? 'TRUE'].join(' AND ');
    yield `SELECT * FROM (${runs.join(' UNION ALL ')}) WHERE ${words}`;
  }
}

/** Blocks that have all terms of the search, and the hashes of its words. */
async function candidatesOf(
  connection: Connection,
  capture: Capture,
  tenant: number,
  { terms }: LogSearch,
  blocks: readonly LogBlock[],
): Promise<{ readonly candidates: readonly Candidate[]; readonly hashes: readonly string[] }> {
  if (terms.length === 0 || blocks.length === 0)
    return { candidates: blocks.map((block) => ({ block, entries: 0 })), hashes: [] };
  const all = await hashesOf(connection, tenant, terms);
  const words = new Set(all.filter((_hash, at) => terms[at]?.kind === 'token'));
  const records = await recordsWith(connection, capture, [...new Set(all)], blocks);
  const candidates = blocks.flatMap((block): Candidate[] => {
    const counts = records.get(block.block);
    if (!all.every((hash) => counts?.has(hash))) return [];
    return [{ block, entries: [...words].reduce((sum, hash) => sum + (counts?.get(hash) ?? 0), 0) }];
  });
  return { candidates, hashes: [...words] };
}

/**
 * The newest blocks up to `mostRecords` records, at least one.
 *
 * @param candidates newest first
 * @param isKnown whether the counts of a block are cached, so that its records need no search
 */
function newestOf(
  candidates: readonly Candidate[],
  mostRecords: number,
  isKnown: (block: LogBlock) => boolean,
): {
  readonly chosen: readonly Candidate[];
  readonly countedAfter: Micros | null;
} {
  let records = 0;
  const end = candidates.findIndex(({ block }, at) => {
    if (!isKnown(block)) records += block.records;
    return at > 0 && records > mostRecords;
  });
  if (end < 0) return { chosen: candidates, countedAfter: null };
  return { chosen: candidates.slice(0, end), countedAfter: itemAt(candidates, end).block.newest };
}

/** The condition that a record of some blocks has all words. */
function withWords(blocks: readonly number[], hashes: readonly string[]): string {
  if (hashes.length === 0) return 'TRUE';
  const lists = `SELECT block::BIGINT * ${BLOCK_RECORDS} AS base, unnest(positions) AS position FROM cold.main.log_terms WHERE ${isOneOf('block', blocks)} AND ${isOneOf('hash', hashes)}`;
  const all = hashes.length === 1 ? '' : ` GROUP BY ALL HAVING count(*) = ${hashes.length}`;
  return `log_no IN (SELECT base + position FROM (${lists})${all})`;
}

/** Counts some records by bucket and severity, and by service; each count ignores the filter on its own field. */
function statement(
  records: string,
  interval: Micros,
  severity: Severity | undefined,
  service: string | undefined,
): { readonly sql: string; readonly values: readonly Parameter[] } {
  const ofService = service === undefined ? 'TRUE' : 'service_name = $1';
  const ofSeverity = severity === undefined ? 'TRUE' : `severity = ${SEVERITIES.indexOf(severity)}`;
  const sql = `SELECT * FROM (
      SELECT bucket, severity, service_name, grouping(service_name) = 0 AS is_service,
        count(*) FILTER (${ofService}) AS of_service, count(*) FILTER (${ofSeverity}) AS of_severity
      FROM (SELECT ${bucketStart('epoch_us(timestamp)', interval)} AS bucket, severity, service_name FROM (${records}))
      GROUP BY GROUPING SETS ((bucket, severity), (service_name)))
    QUALIFY NOT is_service OR row_number() OVER (PARTITION BY is_service ORDER BY of_severity DESC, service_name) <= ${SERVICES_KEPT}`;
  return { sql, values: service === undefined ? [] : [service] };
}

/** Adds up the counts of blocks and hot segments. */
class FacetCounts {
  readonly #chosen: number | null;
  readonly #service: string | undefined;
  readonly #severities = new Map<Severity, number>(SEVERITIES.map((name) => [name, 0]));
  readonly #buckets = new Map<Micros, { count: number; errors: number }>();
  #services = new Map<string, number>();
  #ofServices = 0;

  constructor({
    severity,
    service_name,
  }: {
    readonly severity: Severity | undefined;
    readonly service_name: string | undefined;
  }) {
    this.#chosen = severity === undefined ? null : SEVERITIES.indexOf(severity);
    this.#service = service_name;
  }

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      const ofSeverity = Number(row.of_severity);
      if (row.is_service === true) {
        this.#addService(String(row.service_name), ofSeverity);
      } else {
        this.#ofServices += ofSeverity;
        this.#addBucket(Number(row.bucket), Number(row.severity), Number(row.of_service));
      }
    }
    this.#trim();
  }

  /** Adds the counts of a whole block. */
  addCounts(counts: readonly LogCount[]): void {
    for (const { bucket, severity, service, count } of counts) {
      if (this.#chosen === null || this.#chosen === severity) {
        this.#addService(service, count);
        this.#ofServices += count;
      }
      if (this.#service === undefined || this.#service === service) this.#addBucket(bucket, severity, count);
    }
    this.#trim();
  }

  result(counted_after: Micros | null): LogFacets {
    const services = this.#largest()
      .slice(0, MOST_LOG_SERVICES)
      .filter(([, count]) => count > 0)
      .map(([name, count]) => ({ name, count }));
    const buckets = [...this.#buckets]
      .filter(([, { count }]) => count > 0)
      .sort(([a], [b]) => a - b)
      .map(([start, stats]) => ({ start, ...stats }));
    return {
      count: buckets.reduce((sum, { count }) => sum + count, 0),
      severities: this.#severities,
      services,
      of_other_services: this.#ofServices - services.reduce((sum, { count }) => sum + count, 0),
      buckets,
      counted_after,
    };
  }

  #addService(name: string, count: number): void {
    this.#services.set(name, (this.#services.get(name) ?? 0) + count);
  }

  #trim(): void {
    if (this.#services.size > 2 * SERVICES_KEPT)
      this.#services = new Map(this.#largest().slice(0, SERVICES_KEPT));
  }

  #addBucket(start: Micros, severity: number, count: number): void {
    const name = itemAt(SEVERITIES, severity);
    this.#severities.set(name, (this.#severities.get(name) ?? 0) + count);
    if (this.#chosen !== null && this.#chosen !== severity) return;
    const bucket = this.#buckets.get(start) ?? { count: 0, errors: 0 };
    bucket.count += count;
    if (severity >= FIRST_ERROR) bucket.errors += count;
    this.#buckets.set(start, bucket);
  }

  #largest(): [string, number][] {
    return [...this.#services].sort(([a, most], [b, other]) => other - most || (a < b ? -1 : 1));
  }
}
