import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../signal/attributes.js';
import { NO_DIMENSIONS } from '../../signal/run-context.js';
import { scoreId, type NewScore } from '../../signal/score.js';
import { UNSET_FIELDS, type SpanRecord } from '../../signal/span.js';
import type { TraceHeader, TraceRecord } from '../../signal/trace.js';
import type { Evaluated } from './evaluator.js';
import type { JudgeCall } from './judge.js';

/** In the metadata of the runs of judges: the evaluator. */
const EVALUATOR = 'jackdaw.evaluator';
/** How the names of their agents begin, which tells them apart if a processor or another daemon drops metadata. */
const AGENT = 'evaluator ';

/** Whether a run is a call of a judge. Such runs are never evaluated. */
export function isJudgeRun({ kind, agent, metadata }: TraceHeader): boolean {
  return metadata?.[EVALUATOR] !== undefined || (kind === 'other' && agent.startsWith(AGENT));
}

/** An evaluator in one version. */
export interface Version {
  readonly name: string;
  /** `1`, or with a stored prompt `1, prompt 7`. */
  readonly version: string;
}

/** The id of the score that an evaluator gives in one version: always the same, so that a repeat replaces it. */
export function evaluationId({ name, version }: Version, { run, span }: Evaluated): string {
  return scoreId(['evaluator', name, version, run.trace.trace_id, span?.span_id ?? null]);
}

/** @param call of the judge that gave it, and its run */
export function evaluationScore(
  evaluator: Version,
  target: Evaluated,
  result: Pick<NewScore, 'value' | 'label' | 'comment' | 'error_type'>,
  call: { readonly model: string; readonly traceId: string } | null,
): NewScore {
  const { name, version } = evaluator;
  return {
    ...result,
    id: evaluationId(evaluator, target),
    trace_id: target.run.trace.trace_id,
    span_id: target.span?.span_id ?? null,
    name,
    source: 'evaluator',
    metadata: {
      evaluator_version: version,
      ...(call !== null && { judge_model: call.model, judge_trace_id: call.traceId }),
    },
  };
}

/** A call of the judge as a run of kind `other` with one span. */
export function judgeRun(evaluator: Version, { run, span }: Evaluated, call: JudgeCall): TraceRecord {
  const { model, started_at, ended_at, messages, answer, usage, cost } = call;
  const { input_tokens, output_tokens, parts } = usage;
  const trace_id = randomUUID();
  const metadata: JsonObject = {
    [EVALUATOR]: evaluator.name,
    'jackdaw.evaluator.version': evaluator.version,
    'jackdaw.evaluated.trace_id': run.trace.trace_id,
    ...(span !== null && { 'jackdaw.evaluated.span_id': span.span_id }),
  };
  const agent = AGENT + evaluator.name;
  const times = { started_at, ended_at, duration_ms: (ended_at - started_at) / 1000 };
  const judging: SpanRecord = {
    ...UNSET_FIELDS,
    ...times,
    span_id: randomUUID(),
    trace_id,
    type: 'llm',
    name: `chat ${model}`,
    status: 'completed',
    model,
    input_tokens,
    output_tokens,
    total_tokens: input_tokens === null || output_tokens === null ? null : input_tokens + output_tokens,
    cost_usd: cost?.total ?? null,
    input_data: { messages: messages.map((message) => ({ ...message })) },
    output_data: { content: answer },
    agent_hint: { source: 'root', name: agent },
    run_kind: 'other',
    call: {
      provider: null,
      usage: parts,
      cost: cost === null ? null : { source: 'priced', rule: cost.rule, ...cost.parts },
    },
  };
  const trace = {
    ...times,
    ...NO_DIMENSIONS,
    trace_id,
    agent,
    kind: 'other',
    status: 'completed',
    success: null,
    outcome: null,
    error_message: null,
    total_tokens: null,
    total_cost_usd: null,
    metadata,
    sdk_version: null,
    sample_rate: null,
    follows_spans: true,
    idle_timeout_ms: null,
    orphan_wait_ms: null,
  } as const;
  return { trace, spans: [judging] };
}
