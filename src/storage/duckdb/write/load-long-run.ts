import { itemAt, wordAt } from '../../../signal/checked.js';
import { AGENT_SOURCES, RUN_STATUSES, type AgentHint } from '../../../signal/span.js';
import { parseContext, type RunContext } from '../../../signal/run-context.js';
import { uuidKey } from '../../../worker/uuid-words.js';
import { TYPE_CODES } from '../../../signal/trace-map.js';
import { SPANS } from '../../schema/tables.js';
import { conditionsOn, narrowed, type CommitRanges } from '../segments/commit-ranges.js';
import type { Connection, FixedChunk } from '../files/connection.js';
import { int64At } from '../files/plain-rows.js';
import { newest } from '../segments/relation.js';
import type { Capture } from '../segments/segment.js';
import { runKind } from '../../../runs/rules/span-facts.js';
import { REMOTE_PARENT } from '../../../runs/rules/derived.js';
import { OUTCOME_SOURCES } from '../../../runs/rules/run-outcome.js';
import { WHOLE } from '../../../runs/rules/duplicate-calls.js';
import type { SpanState } from '../../../runs/spans/span-state.js';

/** Replaces the name source if the span has no name. */
const NO_SOURCE = 255;
/** Replaces a missing run kind. */
const NO_KIND = 255;
const NO_ID = "'00000000-0000-0000-0000-000000000000'::UUID";
/** The spans whose errors a header may use: outcome spans and those without a parent. */
const GIVES_ERROR = `(parent_span_id IS NULL OR coalesce(agent_source, ${NO_SOURCE}) IN (${OUTCOME_SOURCES.map((source) => AGENT_SOURCES.indexOf(source)).join(', ')}) OR type = ${TYPE_CODES.agent})`;
/** Columns are transferred in binary form, so flags mark missing values. */
const COLUMNS = `span_id, coalesce(parent_span_id, ${NO_ID}), type::INTEGER, status::INTEGER, node_no, epoch_us(started_at),
  epoch_us(coalesce(ended_at, started_at)), coalesce(total_tokens, 0), coalesce(cost_usd, 0),
  seq, line, coalesce(agent_source, ${NO_SOURCE})::INTEGER,
  coalesce(same_as, ${NO_ID}), coalesce(counted, ${WHOLE})::INTEGER, coalesce(counted_tokens, -1), coalesce(counted_cost, -1),
  ((parent_span_id IS NULL)::INTEGER + (ended_at IS NULL)::INTEGER * 2 + (total_tokens IS NULL)::INTEGER * 4
    + (cost_usd IS NULL)::INTEGER * 8 + (${GIVES_ERROR} AND error_message IS NOT NULL)::INTEGER * 16
    + (same_as IS NULL)::INTEGER * 32 + ((derived & ${REMOTE_PARENT}) <> 0)::INTEGER * 64)::INTEGER,
  coalesce(run_kind, ${NO_KIND})::INTEGER,
  coalesce(agent_name, ''), coalesce(context, ''), CASE WHEN ${GIVES_ERROR} THEN coalesce(error_message, '') ELSE '' END,
  coalesce(call_key, '')`;

/**
 * Loads the facts of all spans of a run with many spans, in a third of the time of rows as objects; equal contexts and agents are one
 * object.
 *
 * @param traceId formatted from its binary form
 */
export async function loadLongRun(
  connection: Connection,
  capture: Capture,
  tenant: number,
  traceId: string,
  commits: CommitRanges,
): Promise<SpanState[]> {
  const where = conditionsOn([commits]).map((seqs) =>
    narrowed(seqs, `tenant = ${tenant} AND trace_id = '${traceId}'::UUID`),
  );
  const spans: SpanState[] = [];
  const chunks = connection.wholeChunks(`SELECT ${COLUMNS} FROM ${newest(capture, SPANS, where)}`);
  for await (const chunk of chunks) addChunk(spans, chunk);
  return spans;
}

function addChunk(spans: SpanState[], chunk: FixedChunk): void {
  const [ids, parents] = [chunk.words(0, 16), chunk.words(1, 16)];
  const [types, statuses, nodes] = [chunk.words(2, 4), chunk.words(3, 4), chunk.words(4, 4)];
  const [starts, ends, tokens] = [chunk.words(5, 8), chunk.words(6, 8), chunk.words(7, 8)];
  const costs = chunk.words(8, 8);
  const [seqs, lines] = [chunk.words(9, 8), chunk.words(10, 4)];
  const [sources, sames, counts] = [chunk.words(11, 4), chunk.words(12, 16), chunk.words(13, 4)];
  const [countedTokens, countedCosts] = [chunk.words(14, 8), chunk.words(15, 8)];
  const [flags, kinds] = [chunk.words(16, 4), chunk.words(17, 4)];
  let hint: AgentHint | null = null;
  let last = '';
  let context: RunContext | null = null;
  for (let row = 0; row < chunk.rows; row++) {
    const nulls = wordAt(flags, row);
    const kind = wordAt(kinds, row);
    hint = hintAt(chunk, row, wordAt(sources, row), hint);
    const text = chunk.text(CONTEXT, row);
    if (text !== last) {
      last = text;
      context = text === '' ? null : parseContext(text);
    }
    spans.push({
      span_id: uuidKey(ids, row * 4),
      parent_span_id: (nulls & 1) === 0 ? uuidKey(parents, row * 4) : null,
      parent_is_remote: (nulls & 64) === 0 ? null : true,
      type: wordAt(types, row),
      status: itemAt(RUN_STATUSES, wordAt(statuses, row)),
      node: wordAt(nodes, row) | 0,
      started_at: int64At(starts, row),
      ended_at: (nulls & 2) === 0 ? int64At(ends, row) : null,
      total_tokens: (nulls & 4) === 0 ? int64At(tokens, row) : null,
      cost_usd: (nulls & 8) === 0 ? int64At(costs, row) : null,
      error_message: (nulls & 16) === 0 ? null : chunk.text(ERROR, row),
      agent_hint: hint,
      context,
      run_kind: kind === NO_KIND ? null : runKind(kind),
      call_key: chunk.text(CALL_KEY, row) || null,
      same_as: (nulls & 32) === 0 ? uuidKey(sames, row * 4) : null,
      counted: wordAt(counts, row),
      counted_tokens: amountAt(countedTokens, row),
      counted_cost: amountAt(countedCosts, row),
      seq: int64At(seqs, row),
      line: wordAt(lines, row),
      row: undefined,
      payload: undefined,
      changed: false,
    });
  }
}

/** @param amounts -1 replaces null */
function amountAt(amounts: Uint32Array, row: number): number | null {
  const amount = int64At(amounts, row);
  return amount < 0 ? null : amount;
}

const NAME = 18;
const CONTEXT = 19;
const ERROR = 20;
const CALL_KEY = 21;

/** @param before the hint of the previous span, reused if equal */
function hintAt(chunk: FixedChunk, row: number, code: number, before: AgentHint | null): AgentHint | null {
  const source = AGENT_SOURCES[code];
  if (source === undefined) return null;
  const name = chunk.text(NAME, row);
  return before?.source === source && before.name === name ? before : { source, name };
}
