import { byteAt, itemAt, invariant } from '../../signal/checked.js';
import { gradeOf } from '../../signal/span-grade.js';
import type { CalledSpans } from '../../signal/trace-map.js';
import { RUN_STATUSES } from '../../signal/span.js';
import { parseContext, type RunContext } from '../../signal/run-context.js';
import { uuidKey } from '../../worker/uuid-words.js';
import { DERIVED } from '../../runs/rules/derived.js';
import { hasRoot } from '../../runs/rules/header-of-spans.js';
import { NO_NODE } from '../../signal/service-map.js';
import { indexOf } from '../schema/table.js';
import { SPAN_WIRE, TRACES, TRACE_WIRE } from '../schema/tables.js';
import type { NamedHeader } from '../../runs/rules/following-header.js';
import { beginsPiece, payloadsOf, type Payload } from '../../runs/rules/payload.js';
import { RUNNING } from '../../runs/rules/rows.js';
import { WHOLE } from '../../runs/rules/duplicate-calls.js';
import { agentHint, isRemote, runKind } from '../../runs/rules/span-facts.js';
import type { SpanState } from '../../runs/spans/span-state.js';
import { PAYLOAD, type IncomingBatch } from './incoming-batch.js';

/** The header of a trace. */

export function headerAt(batch: IncomingBatch, trace: number): NamedHeader {
  const header = {
    sample_rate: batch.traces.value(T.sample_rate, trace) as number | null,
    orphan_wait_ms: batch.traces.value(T.orphan_wait_ms, trace) as number | null,
    environment: batch.traces.value(T.environment, trace) as string | null,
    release: batch.traces.value(T.release, trace) as string | null,
    agent_version: batch.traces.value(T.agent_version, trace) as string | null,
    repository: batch.traces.value(T.repository, trace) as string | null,
    ...batch.traces.row(TRACE_WIRE, trace),
  };
  return { header, agent: batch.agent(trace) };
}

/** The code of a trace's status. */
export function statusAt(batch: IncomingBatch, trace: number): number {
  return Number(batch.traces.value(T.status, trace));
}

/** The code of a trace's kind. */
export function kindAt(batch: IncomingBatch, trace: number): number {
  return Number(batch.traces.value(T.kind, trace));
}

export function isRunningAt(batch: IncomingBatch, trace: number): boolean {
  return statusAt(batch, trace) === RUNNING;
}

/** Like {@link namesItsAgent}, for a whole trace. */
export function namesItsAgentAt(batch: IncomingBatch, trace: number): boolean {
  if ((Number(batch.traces.value(T.derived, trace)) & DERIVED.agent) === 0) return true;
  if (!isRunningAt(batch, trace)) return true;
  let mayBeRemote = false;
  for (let row = batch.start(trace); row < batch.end(trace); row++) {
    if (batch.spans.isNull(S.parent_span_id, row)) return true;
    mayBeRemote ||= isRemoteAt(batch, row) === true;
  }
  return mayBeRemote && hasRoot(newSpansAt(batch, trace, () => NO_NODE));
}

function isRemoteAt({ spans }: IncomingBatch, row: number): true | null {
  return isRemote(Number(spans.value(S.derived, row)));
}

export function startedAt(batch: IncomingBatch, trace: number): number {
  return Number(batch.traces.value(T.started_at, trace));
}

/** The data of a trace's spans that the service map needs. */
export function calledSpansAt(batch: IncomingBatch, trace: number): CalledSpans {
  const { spans } = batch;
  const first = batch.start(trace);
  const numberAt = (column: number, span: number): number => Number(spans.value(column, first + span));
  return {
    length: batch.end(trace) - first,
    type: (span) => numberAt(S.type, span),
    node: (span) => batch.nodeAt(first + span),
    caller: (span) => batch.callerAt(first + span),
    grade: (span) =>
      gradeOf(
        itemAt(RUN_STATUSES, numberAt(S.status, span)),
        numberAt(S.started_at, span),
        spans.isNull(S.ended_at, first + span) ? null : numberAt(S.ended_at, span),
      ),
  };
}

/** The payload of a span. @param first the first span of its trace */
export function payloadAt(batch: IncomingBatch, row: number, first: number): Payload {
  const { spans } = batch;
  // The enclosing resource and scope may be stored with an earlier span.
  let from = row;
  while (from > first && !beginsPiece(byteAt(spans.text, spans.textStart(PAYLOAD, from)))) from--;
  const piece = spans.text.subarray(spans.textStart(PAYLOAD, from), spans.textEnd(PAYLOAD, row));
  return invariant(payloadsOf(piece).at(-1), 'payload of a span');
}

/** The payloads of all spans of a trace, in order. */
export function payloadsAt(batch: IncomingBatch, trace: number): readonly Payload[] {
  const { spans } = batch;
  const [first, end] = [batch.start(trace), batch.end(trace)];
  if (first === end) return [];
  return payloadsOf(spans.text.subarray(spans.textStart(PAYLOAD, first), spans.textEnd(PAYLOAD, end - 1)));
}

/** The spans of a trace as new spans backed by the batch's columns: only the fields that the state of their trace needs. */
export function newSpansAt(
  batch: IncomingBatch,
  trace: number,
  nodeAt: (row: number) => number,
): SpanState[] {
  const { spans, spanIds } = batch;
  const numberAt = (column: number, row: number): number | null => {
    const value = spans.value(column, row);
    return typeof value === 'number' ? value : null;
  };
  const textAt = (column: number, row: number): string | null => {
    const value = spans.value(column, row);
    return typeof value === 'string' ? value : null;
  };
  const states: SpanState[] = [];
  let lastText: string | null = null;
  let context: RunContext | null = null;
  let hint = null as SpanState['agent_hint'];
  for (let row = batch.start(trace); row < batch.end(trace); row++) {
    const found = agentHint(numberAt(S.agent_source, row), textAt(S.agent_name, row));
    // Most spans of a trace have the same value, which is shared.
    if (found?.source !== hint?.source || found?.name !== hint?.name) hint = found;
    const text = textAt(S.context, row);
    if (text !== lastText) {
      lastText = text;
      context = text === null ? null : parseContext(text);
    }
    states.push({
      span_id: uuidKey(spanIds, row * 4),
      parent_span_id: spans.isNull(S.parent_span_id, row) ? null : uuidKey(batch.parentIds, row * 4),
      parent_is_remote: isRemoteAt(batch, row),
      type: invariant(numberAt(S.type, row), 'type of a span'),
      node: nodeAt(row),
      status: itemAt(RUN_STATUSES, invariant(numberAt(S.status, row), 'status of a span')),
      started_at: invariant(numberAt(S.started_at, row), 'start of a span'),
      ended_at: numberAt(S.ended_at, row),
      error_message: textAt(S.error_message, row),
      agent_hint: hint,
      run_kind: runKind(numberAt(S.run_kind, row)),
      context,
      total_tokens: numberAt(S.total_tokens, row),
      cost_usd: numberAt(S.cost_usd, row),
      call_key: textAt(S.call_key, row),
      same_as: spans.isNull(S.same_as, row) ? null : uuidKey(batch.sameIds, row * 4),
      counted: numberAt(S.counted, row) ?? WHOLE,
      counted_tokens: numberAt(S.counted_tokens, row),
      counted_cost: numberAt(S.counted_cost, row),
      seq: 0,
      line: 0,
      row: undefined,
      payload: undefined,
      changed: true,
    });
  }
  return states;
}

const T = {
  started_at: indexOf(TRACE_WIRE, 'started_at'),
  status: indexOf(TRACE_WIRE, 'status'),
  derived: indexOf(TRACE_WIRE, 'derived'),
  kind: indexOf(TRACE_WIRE, 'kind'),
  sample_rate: indexOf(TRACES.wire, 'sample_rate'),
  orphan_wait_ms: indexOf(TRACES.wire, 'orphan_wait_ms'),
  environment: indexOf(TRACES.wire, 'environment'),
  release: indexOf(TRACES.wire, 'release'),
  agent_version: indexOf(TRACES.wire, 'agent_version'),
  repository: indexOf(TRACES.wire, 'repository'),
};

const S = {
  type: indexOf(SPAN_WIRE, 'type'),
  run_kind: indexOf(SPAN_WIRE, 'run_kind'),
  context: indexOf(SPAN_WIRE, 'context'),
  parent_span_id: indexOf(SPAN_WIRE, 'parent_span_id'),
  status: indexOf(SPAN_WIRE, 'status'),
  started_at: indexOf(SPAN_WIRE, 'started_at'),
  ended_at: indexOf(SPAN_WIRE, 'ended_at'),
  error_message: indexOf(SPAN_WIRE, 'error_message'),
  agent_source: indexOf(SPAN_WIRE, 'agent_source'),
  agent_name: indexOf(SPAN_WIRE, 'agent_name'),
  total_tokens: indexOf(SPAN_WIRE, 'total_tokens'),
  cost_usd: indexOf(SPAN_WIRE, 'cost_usd'),
  call_key: indexOf(SPAN_WIRE, 'call_key'),
  same_as: indexOf(SPAN_WIRE, 'same_as'),
  counted: indexOf(SPAN_WIRE, 'counted'),
  counted_tokens: indexOf(SPAN_WIRE, 'counted_tokens'),
  counted_cost: indexOf(SPAN_WIRE, 'counted_cost'),
  derived: indexOf(SPAN_WIRE, 'derived'),
};
