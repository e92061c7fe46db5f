import type { BatchBody, RunBody, SpanBody } from '../src/cli/demo/body.js';

/** The prompt of the load kind `prompts`. */
export const PROMPT = { name: 'support/answer', versions: 10 } as const;

/** Turns each model call of the batches into a run of its own. @param count runs per batch */
export function* singleCalls(
  batches: Generator<BatchBody, never>,
  count: number,
): Generator<BatchBody, never> {
  let traces: RunBody[] = [];
  for (;;) {
    traces.push(...batches.next().value.traces.flatMap(callsOf));
    for (; traces.length >= count; traces = traces.slice(count)) yield { traces: traces.slice(0, count) };
  }
}

/** Attributes that link a span to a prompt version. */
export function promptAttributes({ span_id: id }: SpanBody): Record<string, string | number> {
  const version = (Number.parseInt(id.slice(0, 6), 16) % PROMPT.versions) + 1;
  return { 'langfuse.observation.prompt.name': PROMPT.name, 'langfuse.observation.prompt.version': version };
}

function callsOf({ trace, spans }: RunBody): RunBody[] {
  const calls = spans.filter(({ type }) => type === 'llm');
  return calls.map((call) => ({ trace: { ...trace, started_at: call.started_at }, spans: [rootOf(call)] }));
}

function rootOf(span: SpanBody): SpanBody {
  const fields = Object.entries(span).filter(([name]) => name !== 'parent_span_id');
  return Object.fromEntries(fields) as unknown as SpanBody;
}
