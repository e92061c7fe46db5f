import type { ExportedRow } from '../../contracts/transfer.js';
import type { TableFiles } from '../../transfer/table-files.js';
import type { Row } from '../client/connection.js';
import type { Reads } from '../client/reads.js';
import { rowMadeOf, spansMadeOf, type WholeSpan } from '../runs/effective-spans.js';
import { NodeNumbers } from '../runs/node-names.js';
import type { RunFacts } from '../runs/run-facts.js';
import { payloadOf, WHOLE_SPAN_COLUMNS } from '../runs/run-rows.js';
import { completed, messageKey, traceKey, type SentSpan } from '../runs/sent-traces.js';
import { deriveRun, wholeSpans, type DerivedRun } from '../runs/derive-run.js';
import { readFacts, readMessages, spanRowOf, whereSpans, type WantedTrace } from '../runs/stored-facts.js';
import { EXPORTED_TRACES } from './store-snapshot.js';

/** Limits of a step; at least one run. */
const TRACES_A_STEP = 1000;
const SPANS_A_STEP = 10_000;
/** Order of the spans in a file: arrival order. */
const SPAN_ORDER = 'seq, tenant, trace_id, started_at, span_id';

/** A run of an export, with its spans. */
interface ExportedRun {
  readonly derived: DerivedRun;
  readonly spans: ReadonlyMap<string, WholeSpan>;
}

/**
 * Writes runs, spans and links of a snapshot. Runs are derived from their facts by the same rules as in every write.
 *
 * @param firstHour earlier runs are past retention and are skipped; null without retention
 */
export async function exportRuns(
  reads: Reads,
  files: TableFiles,
  firstHour: number | null,
  abort: AbortSignal,
): Promise<void> {
  for (let after: Row | undefined; ;) {
    const found: readonly Row[] = await nextTraces(reads, after, abort);
    for (let at = 0; at < found.length;) {
      abort.throwIfAborted();
      const some = firstOf(found.slice(at));
      await exportSome(reads, files, some.map(wantedTrace), firstHour);
      at += some.length;
    }
    after = found.at(-1);
    if (found.length < TRACES_A_STEP) break;
  }
  await files.end('spans', SPAN_ORDER);
  await files.end('runs');
  await files.end('links', 'linked_at, tenant, trace_id');
}

async function nextTraces(reads: Reads, after: Row | undefined, abort: AbortSignal): Promise<readonly Row[]> {
  const behind =
    after === undefined
      ? ''
      : `WHERE (hour, first, tenant, trace_id) > (${Number(after.hour)}, ${Number(after.first)}, ${Number(after.tenant)}, toUUID('${String(after.trace_id)}'))`;
  return await reads.rows(
    `SELECT hour, first, tenant, trace_id, spans FROM ${EXPORTED_TRACES.name} ${behind} ORDER BY hour, first, tenant, trace_id LIMIT ${TRACES_A_STEP}`,
    abort,
  );
}

function firstOf(traces: readonly Row[]): readonly Row[] {
  let spans = 0;
  const beyond = traces.findIndex((trace, i) => {
    spans += Number(trace.spans);
    return i > 0 && spans > SPANS_A_STEP;
  });
  return beyond < 0 ? traces : traces.slice(0, beyond);
}

function wantedTrace(row: Row): WantedTrace {
  return { tenant: Number(row.tenant), traceId: String(row.trace_id) };
}

async function exportSome(
  reads: Reads,
  files: TableFiles,
  traces: readonly WantedTrace[],
  firstHour: number | null,
): Promise<void> {
  const nodes = new NodeNumbers();
  const runs = new Map<string, ExportedRun>();
  for (const facts of await readFacts(reads, traces, new Map(), nodes)) {
    const derived = deriveRun(facts, nodes);
    if (derived === null || (firstHour !== null && derived.hour < firstHour)) continue;
    const spans = wholeSpans(spansMadeOf(facts.spans), derived.run.spans);
    runs.set(traceKey(facts.tenant, facts.traceId), { derived, spans });
  }
  const all = [...runs.values()];
  await files.add('runs', all.map(runRow));
  await files.add('links', all.flatMap(linkRows));
  const withSpans = all.filter(({ spans }) => spans.size > 0).map(({ derived: { facts } }) => facts);
  for await (const rows of spanRows(reads, withSpans, runs)) await files.add('spans', rows, SPAN_ORDER);
}

function runRow({ derived: { facts, run }, spans }: ExportedRun): ExportedRow {
  let [first, last] = [Infinity, 0];
  for (const { made } of spans.values()) {
    first = Math.min(first, made.begun.order);
    last = Math.max(last, made.begun.order);
  }
  return {
    ...run.header,
    tenant: facts.tenant,
    agent: run.agent,
    span_count: spans.size,
    first_seq: spans.size === 0 ? 0 : first,
    last_seq: last,
    heard_at: run.lastSeenAt,
    is_mapped: run.isMapped,
  };
}

/** Prompt versions linked to the run or named by its spans. */
function linkRows({ derived: { facts }, spans }: ExportedRun): ExportedRow[] {
  const arrivals = new Map(
    facts.messages.flatMap((message) =>
      message.kind === 'header' ? [[message.order, message.receivedAt] as const] : [],
    ),
  );
  const common = { tenant: facts.tenant, trace_id: facts.traceId };
  const linked = facts.messages.flatMap((message) =>
    message.kind === 'link'
      ? [{ ...common, seq: message.order, prompt_no: message.prompt, span_id: null, linked_at: message.at }]
      : [],
  );
  const named = [...spans.values()].flatMap(({ made }) =>
    [made.begun, made.completed].flatMap((fact) =>
      fact === null || fact.prompt === null
        ? []
        : [
            {
              ...common,
              seq: fact.order,
              prompt_no: fact.prompt,
              span_id: fact.row.span_id,
              linked_at: arrivals.get(fact.order) ?? 0,
            },
          ],
    ),
  );
  return [...linked, ...named];
}

/** Streams the rows of spans with their payloads. */
async function* spanRows(
  reads: Reads,
  traces: readonly RunFacts[],
  runs: ReadonlyMap<string, ExportedRun>,
): AsyncGenerator<readonly ExportedRow[]> {
  if (traces.length === 0) return;
  const messages = await readMessages(reads, traces);
  const begun = new Map<string, SentSpan>();
  const pages = reads.pages(
    `SELECT tenant, seq, node, prompt, ${WHOLE_SPAN_COLUMNS.join(', ')} FROM spans WHERE seq > 0 AND (${whereSpans(traces, messages)}) ORDER BY tenant, hour, trace_id, span_id, seq, version DESC LIMIT 1 BY tenant, hour, trace_id, span_id, seq`,
  );
  for await (const page of pages) yield page.flatMap((row) => spanRow(row, runs, begun));
}

/** @param begun spans whose completing message has not been read yet */
function spanRow(
  read: Row,
  runs: ReadonlyMap<string, ExportedRun>,
  begun: Map<string, SentSpan>,
): readonly ExportedRow[] {
  const trace = wantedTrace(read);
  const span = sentSpan(read);
  const whole = runs.get(traceKey(trace.tenant, trace.traceId))?.spans.get(span.row.span_id);
  if (whole === undefined) return [];
  const { made } = whole;
  const order = Number(read.seq);
  const isBegun = order === made.begun.order;
  // A repeated span.
  if (!isBegun && order !== made.completed?.order) return [];
  if (made.completed === null) return [exportedSpan(trace.tenant, whole, span)];
  const key = `${messageKey(trace, made.begun.order)} ${span.row.span_id}`;
  const other = begun.get(key);
  if (other === undefined) {
    begun.set(key, span);
    return [];
  }
  begun.delete(key);
  return [exportedSpan(trace.tenant, whole, isBegun ? completed(span, other) : completed(other, span))];
}

function sentSpan(read: Row): SentSpan {
  return {
    row: spanRowOf(read),
    payload: payloadOf(read),
    node: String(read.node),
    prompt: read.prompt === null ? null : Number(read.prompt),
    encoded: null,
  };
}

function exportedSpan(tenant: number, { made, counts }: WholeSpan, { payload, node }: SentSpan): ExportedRow {
  const text = (part: Uint8Array | null): string | null =>
    part === null ? null : Buffer.from(part.buffer, part.byteOffset, part.length).toString('utf8');
  return {
    ...rowMadeOf(made),
    ...counts,
    tenant,
    seq: made.begun.order,
    node,
    input: text(payload.input),
    output: text(payload.output),
    metadata: text(payload.metadata),
    sent: payload.sent,
    origin: payload.origin,
  };
}
