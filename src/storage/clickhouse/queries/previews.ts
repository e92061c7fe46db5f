import { SPAN_TYPES } from '../../../signal/span.js';
import { HAS_FAILED } from '../../schema/tables.js';
import { inputPreview, PREVIEWED_BYTES } from '../../shared/input-preview.js';
import { PREVIEW_MODELS, type RunPreview } from '../../contracts/runs.js';
import { textOf } from '../../shared/summaries-of-rows.js';
import type { Row } from '../client/connection.js';
import type { Reads } from '../client/reads.js';
import { traceKey } from '../runs/sent-traces.js';
import { readMessages, whereSpans } from '../runs/stored-facts.js';

/** Lists show no preview for runs with more spans. */
const MOST_SPANS = 10_000;
const LLM = SPAN_TYPES.indexOf('llm');

/** Previews of some runs. @param traceIds in lower case */
export async function readPreviews(
  reads: Reads,
  tenant: number,
  traceIds: readonly string[],
  abort?: AbortSignal,
): Promise<RunPreview[]> {
  const wanted = [...new Set(traceIds)].map((traceId) => ({ tenant, traceId }));
  const messages = await readMessages(reads, wanted, abort);
  const orders: number[] = [];
  const short = wanted.filter(({ traceId }) => {
    const headers = (messages.get(traceKey(tenant, traceId)) ?? []).filter(({ kind }) => kind === 'header');
    const spans = headers.reduce((sum, message) => sum + ('spans' in message ? message.spans : 0), 0);
    if (spans === 0 || spans > MOST_SPANS) return false;
    orders.push(...headers.map(({ order }) => order));
    return true;
  });
  if (short.length === 0) return [];
  const input = `if(length(ifNull(input, '')) <= ${PREVIEWED_BYTES}, input, NULL)`;
  const first = (order: string): string =>
    `argMin(tuple(${input}), (${order}, started_at, toUInt128(span_id))).1`;
  const rows = await reads.rows(
    `SELECT trace_id, arraySort(groupUniqArray(ifNull(model, ''))) AS models, countIf(${HAS_FAILED}) AS errors,
       ${first('parent_span_id IS NOT NULL')} AS of_first, ${first(`type <> ${LLM}`)} AS of_call
     FROM (
       SELECT trace_id, span_id, parent_span_id, started_at, type, status, model, input
       FROM spans WHERE (${whereSpans(short, messages)}) AND seq IN (0, ${orders.join(', ')})
       ORDER BY seq, version DESC LIMIT 1 BY trace_id, span_id
     ) GROUP BY trace_id`,
    abort,
  );
  return rows.map(previewOf);
}

function previewOf(row: Row): RunPreview {
  const models = (row.models as readonly string[]).filter((model) => model !== '');
  const input = textOf(row.of_first) ?? textOf(row.of_call);
  return {
    trace_id: String(row.trace_id),
    models: models.slice(0, PREVIEW_MODELS),
    error_span_count: Number(row.errors),
    input_preview: input === null ? null : inputPreview(input),
  };
}
