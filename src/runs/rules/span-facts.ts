import { itemAt } from '../../signal/checked.js';
import { AGENT_SOURCES, RUN_KINDS, RUN_STATUSES, type AgentHint, type RunKind } from '../../signal/span.js';
import { parseContext } from '../../signal/run-context.js';
import type { MapSpan } from '../../signal/trace-map.js';
import { formatUuid, parseUuid, uuidKey, wordsOfKey } from '../../worker/uuid-words.js';
import { REMOTE_PARENT } from './derived.js';
import type { HeaderSpan } from './header-of-spans.js';
import type { FACT_FIELDS, SpanRow } from './rows.js';
import { WHOLE } from './duplicate-calls.js';
import type { SpanCounts, UsageNode } from './usage.js';

/** The fields of a span that its run's header and the service map depend on. Ids are keys ({@link uuidKey}) to save memory. */
export interface SpanFacts extends Omit<HeaderSpan, 'type'>, UsageNode, MapSpan, SpanCounts {}

/** @param node the number of its node in the service map */
export function factsOf(row: Pick<SpanRow, (typeof FACT_FIELDS)[number]>, node: number): SpanFacts {
  return {
    span_id: keyOf(row.span_id),
    parent_span_id: row.parent_span_id === null ? null : keyOf(row.parent_span_id),
    parent_is_remote: isRemote(row.derived),
    type: row.type,
    node,
    status: itemAt(RUN_STATUSES, row.status),
    started_at: row.started_at,
    ended_at: row.ended_at,
    error_message: row.error_message,
    agent_hint: agentHint(row.agent_source, row.agent_name),
    run_kind: runKind(row.run_kind),
    context: row.context === null ? null : parseContext(row.context),
    total_tokens: row.total_tokens,
    cost_usd: row.cost_usd,
    call_key: row.call_key,
    same_as: row.same_as === null ? null : keyOf(row.same_as),
    counted: row.counted ?? WHOLE,
    counted_tokens: row.counted_tokens,
    counted_cost: row.counted_cost,
  };
}

/** @param derived the bits of a span */
export function isRemote(derived: number): true | null {
  return (derived & REMOTE_PARENT) === 0 ? null : true;
}

/** Of one id at a time. */
const WORDS = new Uint32Array(4);

/** The key of an id given as text. */
export function keyOf(id: string): string {
  parseUuid(id, WORDS, 0);
  return uuidKey(WORDS, 0);
}

/** The text of an id given as a key. */
export function idOf(key: string): string {
  wordsOfKey(key, WORDS);
  return formatUuid(WORDS, 0);
}

/** The counts of a span in its row. */
export type CountsColumns = Pick<SpanRow, keyof SpanCounts>;

/** @param counts with an id as a key */
export function countsColumns({ same_as, counted, counted_tokens, counted_cost }: SpanCounts): CountsColumns {
  return {
    same_as: same_as === null ? null : idOf(same_as),
    counted: counted === WHOLE ? null : counted,
    counted_tokens,
    counted_cost,
  };
}

/** @param code a position in `AGENT_SOURCES` */
export function agentHint(code: number | null, name: string | null): AgentHint | null {
  const source = code === null ? undefined : AGENT_SOURCES[code];
  return source === undefined || name === null ? null : { source, name };
}

/** @param code a position in `RUN_KINDS` */
export function runKind(code: number | null): RunKind | null {
  return code === null ? null : itemAt(RUN_KINDS, code);
}
