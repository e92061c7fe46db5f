import type { Column } from '../../../worker/columns.js';
import { AGENT_NODE, NO_NODE } from '../../../signal/service-map.js';
import { LOGS } from '../../schema/log-tables.js';
import { NAMED_BATCHES } from '../../schema/named-batches-table.js';
import { PROMPT_LINKS } from '../../schema/prompt-links-table.js';
import { SCORES } from '../../schema/scores-table.js';
import { SERVICES, USAGE } from '../../schema/sum-tables.js';
import { AGENTS, METRIC_STREAMS, ORIGINS, PAYLOADS, POINTS, SPANS, TRACES } from '../../schema/tables.js';
import type { Table } from '../../schema/table.js';
import { EXPORTED, type TableName } from '../../transfer/exported-tables.js';
import type { OfCommits } from '../segments/commit-ranges.js';
import { newest, relation } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { PAGE_PAYLOADS_PLACE } from './page-payloads.js';

/** The SELECT for the rows of an exported table, in its columns. @param page the commits, if the table is paged */
export type ExportQuery = (capture: Capture, page: OfCommits | 'TRUE') => string;

/** The select list of an exported table. @param others SQL for the columns that are not stored under their own name */
function columnsOf(table: TableName, from: string, others: Readonly<Record<string, string>> = {}): string {
  const columns: readonly Column[] = EXPORTED[table].columns;
  return columns
    .map(({ name, sql }) => `(${others[name] ?? `${from}.${name}`})::${sql} AS ${name}`)
    .join(', ');
}

/** The newest row of each agent number. */
function agentsNow(capture: Capture): string {
  return `(SELECT * FROM ${relation(capture, AGENTS)} QUALIFY row_number() OVER (PARTITION BY agent_no ORDER BY seq DESC) = 1)`;
}

/** One row for each number of an origin. */
function originsNow(capture: Capture): string {
  return `(SELECT origin_no, any_value(origin) AS origin FROM ${relation(capture, ORIGINS)} GROUP BY origin_no)`;
}

/** The node of a span, in the format of `EXPORTED.spans`. */
const NODE = `CASE s.node_no WHEN ${NO_NODE} THEN '' WHEN ${AGENT_NODE} THEN '@' ELSE '=' || v.name END`;

/** The query for each exported table. */
export const EXPORT_QUERIES: Readonly<Record<TableName, ExportQuery>> = {
  agents: (capture) => `SELECT ${columnsOf('agents', 'a')} FROM ${agentsNow(capture)} a ORDER BY a.agent_no`,
  usage: (capture) =>
    `SELECT ${columnsOf('usage', 'u', { period: 'u.month', items: 'sum(u.events)' })} FROM ${relation(capture, USAGE)} u GROUP BY u.tenant, u.month ORDER BY u.tenant, u.month`,
  batches: (capture) =>
    `SELECT ${columnsOf('batches', 'b')} FROM ${relation(capture, NAMED_BATCHES)} b ORDER BY b.received_at, b.batch`,
  // Unsorted: all rows are in one file, and sorting would hold them in memory. An import takes the order from the spans.
  runs: (capture, page) =>
    `SELECT ${columnsOf('runs', 't', { agent: 'a.name' })} FROM ${newest(capture, TRACES, page)} t
     JOIN ${agentsNow(capture)} a ON a.agent_no = t.agent_no`,
  spans: (capture, page) => {
    const payload = Object.fromEntries(
      ['input', 'output', 'metadata', 'sent', 'origin'].map((part) => [part, `p.${part}`]),
    );
    const samePlace = ['seq', 'tenant', 'trace_id', 'line'].map((name) => `p.${name} = s.${name}`);
    return `SELECT ${columnsOf('spans', 's', { ...payload, node: NODE })} FROM ${newest(capture, SPANS, page)} s
     LEFT JOIN ${PAGE_PAYLOADS_PLACE} p ON ${samePlace.join(' AND ')}
     LEFT JOIN ${relation(capture, SERVICES)} v ON v.node_no = s.node_no
     ORDER BY s.seq, s.tenant, s.trace_id, s.line`;
  },
  links: (capture, page) =>
    `SELECT ${columnsOf('links', 'l')} FROM ${relation(capture, PROMPT_LINKS, page)} l ORDER BY l.seq, l.tenant, l.trace_id`,
  points: (capture, page) => {
    const stream = { metric: 'm.name', metric_type: 'm.type', unit: 'm.unit', description: 'm.description' };
    return `SELECT ${columnsOf('points', 'p', { ...stream, origin: 'o.origin' })} FROM ${relation(capture, POINTS, page)} p
     JOIN ${newest(capture, METRIC_STREAMS)} m ON m.stream_no = p.stream_no
     JOIN ${originsNow(capture)} o ON o.origin_no = p.origin_no ORDER BY p.seq, p.tenant`;
  },
  logs: (capture, page) =>
    `SELECT ${columnsOf('logs', 'l', { origin: 'o.origin' })} FROM ${relation(capture, LOGS, page)} l
     JOIN ${originsNow(capture)} o ON o.origin_no = l.origin_no ORDER BY l.seq, l.tenant`,
  scores: (capture, page) =>
    `SELECT ${columnsOf('scores', 's')} FROM ${relation(capture, SCORES, page)} s ORDER BY s.seq, s.tenant, s.id`,
};

/** Rows and bytes of each commit, for `exportPages`. */
export const EXPORT_WEIGHTS: Readonly<Record<'spans' | 'points' | 'logs' | 'scores', ExportQuery>> = {
  spans: (capture, page) =>
    `SELECT seq, 1 AS rows, 0 AS bytes FROM ${newest(capture, SPANS, page)} UNION ALL SELECT seq, 0, bytes FROM ${relation(capture, PAYLOADS, page)}`,
  points: (capture, page) => `SELECT seq, 1 AS rows, 0 AS bytes FROM ${relation(capture, POINTS, page)}`,
  logs: (capture, page) => `SELECT seq, 1 AS rows, bytes FROM ${relation(capture, LOGS, page)}`,
  scores: (capture, page) =>
    `SELECT seq, 1 AS rows, coalesce(strlen(comment), 0) + coalesce(strlen(metadata), 0) AS bytes FROM ${relation(capture, SCORES, page)}`,
};

/** The same, reading only commit numbers, for tables with damaged blocks. */
export const EXPORT_ROWS: typeof EXPORT_WEIGHTS = {
  spans: (capture, page) => countedRows(capture, SPANS, page),
  points: (capture, page) => countedRows(capture, POINTS, page),
  logs: (capture, page) => countedRows(capture, LOGS, page),
  scores: (capture, page) => countedRows(capture, SCORES, page),
};

function countedRows(capture: Capture, table: Table, page: OfCommits | 'TRUE'): string {
  return `SELECT seq, 1 AS rows, 0 AS bytes FROM ${relation(capture, table, page)}`;
}
