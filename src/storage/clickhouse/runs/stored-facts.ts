import { keyOf } from '../../../runs/rules/span-facts.js';
import type { NamedHeader } from '../../../runs/rules/following-header.js';
import type { SpanRow } from '../../../runs/rules/rows.js';
import type { SentFact } from './effective-spans.js';
import type { NodeNumbers } from './node-names.js';
import type { RunFacts, StoredHeader, StoredMessage, StoredWhole } from './run-facts.js';
import { SPAN_ROW_COLUMNS } from '../tables/run-tables.js';
import { traceKey, type SentTrace } from './sent-traces.js';
import type { Row } from '../client/connection.js';
import type { Reads } from '../client/reads.js';

/** A requested trace. */
export interface WantedTrace {
  readonly tenant: number;
  readonly traceId: string;
}

/** Traces per statement when reading facts. */
const TRACES_A_STATEMENT = 2000;
const SPAN_COLUMNS = ['seq', 'version', 'begun_by', 'completed_by', 'node', 'prompt'];
const MESSAGE_COLUMNS =
  'tenant, trace_id, seq, kind, received_at, header, is_mapped, spans, hours, success, outcome, prompt';

/** Traces the caller has just stored, by key. */
type Own = ReadonlyMap<string, readonly SentTrace[]>;

/**
 * Reads all stored facts of some runs.
 *
 * @param own traces that the caller has just stored; they are not read again
 */
export async function readFacts(
  reads: Reads,
  wanted: readonly WantedTrace[],
  own: Own,
  nodes: NodeNumbers,
): Promise<RunFacts[]> {
  const facts: RunFacts[] = [];
  for (let from = 0; from < wanted.length; from += TRACES_A_STATEMENT) {
    const some = wanted.slice(from, from + TRACES_A_STATEMENT);
    facts.push(...(await readSome(reads, some, own, nodes)));
  }
  return facts;
}

async function readSome(
  reads: Reads,
  wanted: readonly WantedTrace[],
  own: Own,
  nodes: NodeNumbers,
): Promise<RunFacts[]> {
  const messages = await readMessages(reads, wanted, undefined, own);
  const toRead = wanted.filter((trace) => {
    const key = traceKey(trace.tenant, trace.traceId);
    const mine = new Set((own.get(key) ?? []).map(({ order }) => order));
    return (messages.get(key) ?? []).some(
      (message) => message.kind === 'header' && message.spans > 0 && !mine.has(message.order),
    );
  });
  const stored = await readSpans(reads, toRead, messages, nodes);
  return wanted.map(({ tenant, traceId }) => {
    const key = traceKey(tenant, traceId);
    const found = stored.get(key);
    const read = messages.get(key) ?? [];
    const orders = new Set(read.map(({ order }) => order));
    const mine = found === undefined ? (own.get(key) ?? []) : [];
    return {
      tenant,
      traceId,
      messages: read,
      spans: [
        // Spans without a message belong to a write that failed before it was acknowledged.
        ...(found?.spans ?? []).filter(({ order }) => orders.has(order)),
        ...mine.flatMap((trace) => factsOf(trace, nodes)),
      ],
      wholes: found?.wholes ?? new Map<string, StoredWhole>(),
    };
  });
}

function factsOf({ order, spans }: SentTrace, nodes: NodeNumbers): SentFact<SpanRow>[] {
  return spans.map(({ row, node, prompt }) => ({ order, row, node: nodes.numberOf(node), prompt }));
}

/**
 * The messages of traces, each in their order, by the keys of the traces.
 *
 * @param own all headers that one write has stored for these traces; not read again
 */
export async function readMessages(
  reads: Reads,
  wanted: readonly WantedTrace[],
  abort?: AbortSignal,
  own: Own = new Map(),
): Promise<ReadonlyMap<string, readonly StoredMessage[]>> {
  const found = new Map<string, StoredMessage[]>();
  if (wanted.length === 0) return found;
  for (const { tenant, traceId } of wanted) {
    const key = traceKey(tenant, traceId);
    found.set(key, (own.get(key) ?? []).map(headerOf));
  }
  // A row may be stored twice, also by a rebuild of the map, which sets `is_mapped`. `FINAL` reads every column of every row nearby, and
  // lists of pairs are slower than two lists.
  const rows = await reads.rows(
    `SELECT ${MESSAGE_COLUMNS} FROM messages WHERE ${whereTraces(wanted)}${butHeadersOf(own)} ORDER BY is_mapped DESC LIMIT 1 BY tenant, trace_id, seq`,
    abort,
  );
  for (const row of rows) found.get(traceKey(Number(row.tenant), String(row.trace_id)))?.push(messageOf(row));
  for (const messages of found.values()) messages.sort((a, b) => a.order - b.order);
  return found;
}

/** SQL condition; also matches a trace with the id of another tenant's trace, if both tenants are in the list. */
function whereTraces(wanted: readonly WantedTrace[]): string {
  const tenants = new Set(wanted.map(({ tenant }) => tenant));
  const ids = wanted.map(({ traceId }) => `'${traceId}'`);
  return `tenant IN (${[...tenants].join(', ')}) AND trace_id IN (${ids.join(', ')})`;
}

/** SQL condition that excludes the headers of the caller's write. */
function butHeadersOf(own: Own): string {
  let [first, last] = [Infinity, -Infinity];
  for (const traces of own.values())
    for (const { order } of traces) {
      first = Math.min(first, order);
      last = Math.max(last, order);
    }
  return first > last ? '' : ` AND NOT (kind = 'header' AND seq BETWEEN ${first} AND ${last})`;
}

/** The stored header of a trace in a write. */
function headerOf(trace: SentTrace): StoredHeader {
  const { order, receivedAt, named, isMapped, spans, hours } = trace;
  return { kind: 'header', order, receivedAt, named, isMapped, spans: spans.length, hours };
}

function messageOf(row: Row): StoredMessage {
  const order = Number(row.seq);
  switch (row.kind) {
    case 'outcome':
      return { kind: 'outcome', order, success: row.success === true, outcome: textOf(row.outcome) };
    case 'verdict': {
      const [span = '', at = row.received_at, id = null] = String(row.header).split(' ');
      return {
        kind: 'verdict',
        order,
        // Time and id are missing in messages of older versions.
        at: Number(at),
        id,
        span: span === '' ? null : keyOf(span),
        success: row.success === true,
        outcome: textOf(row.outcome),
      };
    }
    case 'timeout':
      return { kind: 'timeout', order, at: Number(row.received_at) };
    case 'link':
      return { kind: 'link', order, at: Number(row.received_at), prompt: Number(row.prompt) };
    default:
      return {
        kind: 'header',
        order,
        receivedAt: Number(row.received_at),
        named: namedIn(String(row.header)),
        isMapped: row.is_mapped === true,
        spans: Number(row.spans),
        hours: row.hours as readonly number[],
      };
  }
}

function namedIn(text: string): NamedHeader {
  const { agent, header } = JSON.parse(text) as NamedHeader;
  // Missing in headers of older versions.
  return {
    agent,
    header: {
      ...header,
      orphan_wait_ms: header.orphan_wait_ms ?? null,
      environment: header.environment ?? null,
      release: header.release ?? null,
      agent_version: header.agent_version ?? null,
      repository: header.repository ?? null,
    },
  };
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

interface StoredSpans {
  readonly spans: SentFact<SpanRow>[];
  readonly wholes: Map<string, StoredWhole>;
}

async function readSpans(
  reads: Reads,
  wanted: readonly WantedTrace[],
  messages: ReadonlyMap<string, readonly StoredMessage[]>,
  nodes: NodeNumbers,
): Promise<ReadonlyMap<string, StoredSpans>> {
  const found = new Map<string, StoredSpans>();
  for (const { tenant, traceId } of wanted)
    found.set(traceKey(tenant, traceId), { spans: [], wholes: new Map() });
  if (wanted.length === 0) return found;
  const columns = [...SPAN_COLUMNS, ...SPAN_ROW_COLUMNS.map(({ name }) => name)].join(', ');
  const rows = reads.pages(
    `SELECT tenant, ${columns} FROM spans WHERE ${whereSpans(wanted, messages)} ORDER BY tenant, trace_id, seq, span_id, version DESC LIMIT 1 BY tenant, trace_id, seq, span_id`,
  );
  for await (const page of rows)
    for (const row of page) {
      const of = found.get(traceKey(Number(row.tenant), String(row.trace_id)));
      if (of !== undefined) addSpan(of, row, nodes);
    }
  return found;
}

/** SQL condition for the spans of traces, restricted to the hours in their messages. */
export function whereSpans(
  wanted: readonly WantedTrace[],
  messages: ReadonlyMap<string, readonly StoredMessage[]>,
): string {
  const tenants = new Map<number, { hours: Set<number>; ids: string[] }>();
  for (const { tenant, traceId } of wanted) {
    const of = tenants.get(tenant) ?? { hours: new Set<number>(), ids: [] };
    tenants.set(tenant, of);
    of.ids.push(`'${traceId}'`);
    for (const message of messages.get(traceKey(tenant, traceId)) ?? [])
      if (message.kind === 'header') for (const hour of message.hours) of.hours.add(hour);
  }
  const conditions = [...tenants].map(
    ([tenant, { hours, ids }]) =>
      `(tenant = ${tenant} AND hour IN (${[...hours].join(', ') || 'NULL'}) AND trace_id IN (${ids.join(', ')}))`,
  );
  return conditions.join(' OR ') || 'false';
}

function addSpan({ spans, wholes }: StoredSpans, row: Row, nodes: NodeNumbers): void {
  const order = Number(row.seq);
  const span = spanRowOf(row);
  if (order > 0) {
    spans.push({
      order,
      row: span,
      node: nodes.numberOf(String(row.node)),
      prompt: row.prompt === null ? null : Number(row.prompt),
    });
    return;
  }
  const version = Number(row.version);
  const known = wholes.get(span.span_id);
  if (known !== undefined && known.version >= version) return;
  wholes.set(span.span_id, {
    version,
    begunBy: Number(row.begun_by),
    completedBy: Number(row.completed_by),
    same_as: span.same_as,
    counted: span.counted,
    counted_tokens: span.counted_tokens,
    counted_cost: span.counted_cost,
  });
}

/** The fields of a span in a row of `spans`. */
export function spanRowOf(row: Row): SpanRow {
  return Object.fromEntries(SPAN_ROW_COLUMNS.map(({ name }) => [name, row[name]])) as unknown as SpanRow;
}
