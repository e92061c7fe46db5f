import { hourOf } from '../../../signal/trace-map.js';
import type { RunCursor, RunFilter } from '../../contracts/runs.js';
import { mayHave, patternInText } from '../../shared/needles.js';
import {
  HEADER_TEXTS,
  textsOfHeader,
  textsOfSpan,
  type Needles,
  type SearchedList,
  type SearchStep,
  type TextOfRun,
} from '../../shared/run-search.js';
import type { StoredAttributes } from '../../../signal/attributes.js';
import type { AttributeNeedle } from '../../shared/attribute-search.js';
import type { Row } from '../client/connection.js';
import { payloadOf } from '../runs/run-rows.js';
import type { AgentsOfUser } from '../names/agent-names.js';
import { quoted } from '../client/literals.js';
import { effectiveSpans } from './effective-spans-sql.js';
import { hoursOf, readPlaces, type ListedRun, type ListParts } from './listed-runs.js';
import { behind, conditions } from './run-conditions.js';

/** Bytes of inputs and outputs in memory at a time. */
const PART_BYTES = 2 * 1024 * 1024;
const OWN_TEXTS = ['name', 'model', 'error_message'] as const;
const PAYLOADS = ['input', 'output'] as const;
const ATTRIBUTES = ['metadata', 'sent', 'origin'] as const;
/** Texts are separated by a character that no needle has. */
const HEADER = joined(HEADER_TEXTS);
const SPAN = joined([...OWN_TEXTS, ...PAYLOADS]);

/** A list of runs as the search reads it. @param also SQL for further conditions; null if no run meets them */
export function searchedList(
  parts: ListParts,
  tenant: number,
  filter: RunFilter,
  also: string | null,
  abort: AbortSignal | undefined,
): SearchedList {
  return {
    step: async (needles, after, limit) => {
      const agents = await parts.names.of(tenant);
      const where = also === null ? null : conditions(agents, tenant, filter);
      if (where === null) return { candidates: [], next: null };
      const all = `${where} AND ${behind(filter, after)} AND ${String(also)}`;
      // One extra row shows whether others follow.
      const listed = await readPlaces(parts.reads, all, filter, `LIMIT ${limit + 1}`, abort);
      const runs = listed.slice(0, limit);
      const last = listed.length > limit ? runs.at(-1) : undefined;
      const candidates = await havingAll(parts, tenant, agents, { runs, needles }, abort);
      return { candidates, next: last === undefined ? null : cursorOf(last) };
    },
    texts: (traceIds, needles, isDecided) => texts(parts, tenant, { traceIds, needles, isDecided }, abort),
    attributes: (traceIds, needles, isDecided) =>
      attributes(parts, tenant, { traceIds, needles, isDecided }, abort),
  };
}

/** The runs that may have all needles. */
async function havingAll(
  { reads }: ListParts,
  tenant: number,
  agents: AgentsOfUser,
  { runs, needles }: { readonly runs: readonly ListedRun[]; readonly needles: Needles },
  abort: AbortSignal | undefined,
): Promise<SearchStep['candidates']> {
  const { texts, attributes } = needles;
  /** The bit for all needles of attributes. */
  const ofAttributes = attributes.length === 0 ? 0 : 2 ** texts.length;
  const whole = 2 ** texts.length - 1 + ofAttributes;
  if (runs.length === 0 || whole === 0) return runs.map(cursorOf);
  const found = new Map<string, number>();
  const add = (id: unknown, mask: number): void => {
    found.set(String(id), (found.get(String(id)) ?? 0) | mask);
  };
  const places = runs.map(({ traceId, startedAt }) => `(${tenant}, ${hourOf(startedAt)}, '${traceId}')`);
  const ids = listOf(runs.map(({ traceId }) => traceId));
  const maskOfSpan = [
    ...(texts.length === 0 ? [] : [maskOf(SPAN, texts)]),
    ...(attributes.length === 0 ? [] : [`if(${hasAttributes(attributes)}, ${ofAttributes}, 0)`]),
  ].join(' + ');
  const [headers, spans] = await Promise.all([
    texts.length === 0
      ? []
      : reads.rows(
          `SELECT trace_id, agent_no, ${maskOf(HEADER, texts)} AS mask FROM runs FINAL WHERE (tenant, hour, trace_id) IN (${places.join(', ')})`,
          abort,
        ),
    reads.rows(
      `SELECT trace_id, groupBitOr(${maskOfSpan}) AS mask FROM spans WHERE ${ofRuns(tenant, ids)} GROUP BY trace_id`,
      abort,
    ),
  ]);
  for (const { trace_id, agent_no, mask } of headers) {
    const name = agents.byNumber(Number(agent_no))?.name ?? '';
    const ofName = texts.reduce((bits, needle, i) => (mayHave(name, needle) ? bits | (2 ** i) : bits), 0);
    add(trace_id, Number(mask) | ofName);
  }
  for (const { trace_id, mask } of spans) add(trace_id, Number(mask));
  return runs.filter(({ traceId }) => found.get(traceId) === whole).map(cursorOf);
}

async function* texts(
  { reads, names }: ListParts,
  tenant: number,
  of: {
    readonly traceIds: readonly string[];
    readonly needles: readonly string[];
    readonly isDecided: (traceId: string) => boolean;
  },
  abort: AbortSignal | undefined,
): AsyncGenerator<readonly TextOfRun[]> {
  const { traceIds, needles, isDecided } = of;
  const ids = listOf(traceIds);
  const there = ofRuns(tenant, ids);
  const headers = await reads.rows(
    `SELECT trace_id, agent_no, ${HEADER_TEXTS.join(', ')} FROM runs FINAL WHERE ${there}`,
    abort,
  );
  const agents = await names.of(tenant, new Set(headers.map(({ agent_no }) => Number(agent_no))));
  yield headers.flatMap((row) =>
    textsOfHeader(String(row.trace_id), agents.byNumber(Number(row.agent_no))?.name ?? '', row),
  );
  const size = PAYLOADS.map((name) => `length(ifNull(${name}, ''))`).join(' + ');
  const columns = ['type', ...OWN_TEXTS, ...PAYLOADS];
  const order = 'ORDER BY started_at, toUInt128(span_id)';
  const spans = await reads.rows(
    `SELECT trace_id, span_id, type, ${OWN_TEXTS.join(', ')}, ${size} AS bytes FROM ${effectiveSpans(tenant, {}, columns, there)} WHERE ${hasAny(needles)} ${order}`,
    abort,
  );
  yield spans.flatMap((row) => textsOfSpan(String(row.trace_id), row));
  for (const part of partsOf(spans)) {
    const some = part.filter(({ trace_id }) => !isDecided(String(trace_id)));
    if (some.length === 0) continue;
    const spanIds = listOf(some.map(({ span_id }) => String(span_id)));
    const rows = await reads.rows(
      `SELECT trace_id, span_id, name, type, input AS input_data, output AS output_data FROM ${effectiveSpans(tenant, {}, columns, `${there} AND span_id IN (${spanIds})`)} ${order}`,
      abort,
    );
    yield rows.flatMap((row) => textsOfSpan(String(row.trace_id), row));
  }
}

/** The attributes of spans that may have all needles of one of the lists, a part of them at a time. */
async function* attributes(
  { reads }: ListParts,
  tenant: number,
  of: {
    readonly traceIds: readonly string[];
    readonly needles: readonly (readonly AttributeNeedle[])[];
    readonly isDecided: (traceId: string) => boolean;
  },
  abort: AbortSignal | undefined,
): AsyncGenerator<readonly StoredAttributes[]> {
  const there = ofRuns(tenant, listOf(of.traceIds));
  const isWanted = of.needles.map(hasAttributes).join(' OR ');
  const size = ATTRIBUTES.map((name) => `length(ifNull(${name}, ''))`).join(' + ');
  const spans = await reads.rows(
    `SELECT trace_id, span_id, ${size} AS bytes FROM ${effectiveSpans(tenant, {}, ATTRIBUTES, there)} WHERE ${isWanted}`,
    abort,
  );
  for (const part of partsOf(spans)) {
    const some = part.filter(({ trace_id }) => !of.isDecided(String(trace_id)));
    if (some.length === 0) continue;
    const spanIds = listOf(some.map(({ span_id }) => String(span_id)));
    const rows = await reads.rows(
      `SELECT trace_id, ${ATTRIBUTES.join(', ')} FROM ${effectiveSpans(tenant, {}, ATTRIBUTES, `${there} AND span_id IN (${spanIds})`)}`,
      abort,
    );
    yield rows.map((row) => {
      const { metadata, sent, origin } = payloadOf(row);
      // With received bytes, `metadata` has only values that are no attributes.
      return { trace_id: String(row.trace_id), metadata: sent === null ? metadata : null, sent, origin };
    });
  }
}

/** Rows with their `bytes` in parts of up to {@link PART_BYTES}, at least one. */
function* partsOf(rows: readonly Row[]): Generator<readonly Row[]> {
  for (let from = 0; from < rows.length;) {
    let [to, bytes] = [from, 0];
    while (to < rows.length && (to === from || bytes + Number(rows[to]?.bytes) <= PART_BYTES))
      bytes += Number(rows[to++]?.bytes);
    yield rows.slice(from, to);
    from = to;
  }
}

function cursorOf({ traceId, startedAt, value }: ListedRun): RunCursor {
  return { trace_id: traceId, started_at: startedAt, value };
}

function ofRuns(tenant: number, ids: string): string {
  return `tenant = ${tenant} AND trace_id IN (${ids}) AND hour IN (${hoursOf(tenant, ids)})`;
}

function listOf(ids: readonly string[]): string {
  return ids.map((id) => `'${id}'`).join(', ') || "'00000000-0000-0000-0000-000000000000'";
}

function joined(columns: readonly string[]): string {
  return `arrayStringConcat([${columns.map((name) => `ifNull(${name}, '')`).join(', ')}], '\\0')`;
}

function maskOf(text: string, needles: readonly string[]): string {
  return needles.map((needle, i) => `if(${has(text, needle)}, ${2 ** i}, 0)`).join(' + ');
}

function hasAny(needles: readonly string[]): string {
  return needles.map((needle) => has(SPAN, needle)).join(' OR ') || 'true';
}

/** SQL for spans that may have all needles, each in one of the columns of attributes. */
function hasAttributes(needles: readonly AttributeNeedle[]): string {
  const conditions = needles.map(({ key, values, pairs }) => {
    const ofColumns = ATTRIBUTES.map((column) => {
      // Columns of bytes have them as Latin-1 text.
      const encoding = column === 'metadata' ? 'utf8' : 'latin1';
      const contains = (bytes: Uint8Array): string =>
        bytes.length === 0
          ? 'true'
          : `position(${column}, ${quoted(Buffer.from(bytes).toString(encoding))}) > 0`;
      return pairs.length > 0
        ? pairs.map(contains).join(' OR ')
        : `${contains(key)} AND (${values.map(contains).join(' OR ')})`;
    });
    return `(${ofColumns.join(' OR ')})`;
  });
  return `ifNull(${conditions.join(' AND ') || 'true'}, false)`;
}

function has(text: string, needle: string): string {
  return `match(${text}, ${quoted(patternInText(needle))})`;
}
