import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../src/signal/attributes.js';
import { aSpan } from '../test/support/trace-batch.js';
import type { Api } from './api.js';

/** As many spans as a request may have, and requests that are under way together. */
const BATCH = 100;
const AT_ONCE = 8;
const CALLS_OF_STEP = 19;
const STEP_MS = 20;

/**
 * Sends one run: a root, steps below it, model and tool calls with texts below these; every hundredth call failed.
 *
 * @param spans of the run @returns its id
 */
export async function sendRun(api: Api, agent: string, spans: number, start = Date.now()): Promise<string> {
  const id = randomUUID();
  const trace = {
    trace_id: id,
    agent,
    status: 'completed',
    success: true,
    started_at: at(start),
    ended_at: at(start + spans * STEP_MS),
  };
  const batches = [...batchesOf(spansOf(id, spans, start))];
  for (let first = 0; first < batches.length; first += AT_ONCE)
    await Promise.all(
      batches
        .slice(first, first + AT_ONCE)
        .map((some) => api.post('/traces/batch', { traces: [{ trace, spans: some }] })),
    );
  return id;
}

function* spansOf(traceId: string, count: number, start: number): Generator<JsonObject> {
  const span = (parent: string | null, name: string, type: string, begun: number, ms: number): JsonObject =>
    aSpan(traceId, {
      parent_span_id: parent,
      name,
      type,
      started_at: at(begun),
      ended_at: at(begun + ms),
      duration_ms: ms,
    });
  const root = span(null, 'answer', 'agent', start, count * STEP_MS);
  yield root;
  let step = root;
  for (let place = 1; place < count; place++) {
    const begun = start + place * STEP_MS;
    if ((place - 1) % (CALLS_OF_STEP + 1) === 0) {
      step = span(idOf(root), `step ${String(place)}`, 'custom', begun, CALLS_OF_STEP * STEP_MS);
      yield step;
      continue;
    }
    const isModel = place % 2 === 0;
    const failed = { status: 'failed', error_message: 'The service did not answer in time.' };
    yield {
      ...span(idOf(step), isModel ? 'chat' : 'search', isModel ? 'llm' : 'tool', begun, STEP_MS),
      ...(place % 100 === 50 ? failed : {}),
      output_data: { answer: `Number ${String(place)} has been in stock since Tuesday. `.repeat(4) },
    };
  }
}

function idOf(span: JsonObject): string {
  return span['span_id'] as string;
}

function at(ms: number): string {
  return new Date(ms).toISOString();
}

function* batchesOf(spans: Iterable<JsonObject>): Generator<JsonObject[]> {
  let batch: JsonObject[] = [];
  for (const each of spans) {
    batch.push(each);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
