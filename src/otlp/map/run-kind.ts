import type { AgentHint, RunKind } from '../../signal/span.js';
import type { Kind } from './conventions/convention.js';
import type { SpanReading } from './span-reading.js';

const SERVER = 2;
/** Servers, and who sends or takes messages. */
const SERVICES: ReadonlySet<number> = new Set([SERVER, 4, 5]);

/** What is known of a span, besides its attributes, where it is asked for its run's kind. */
export interface KindOfSpan {
  /** What attributes or the name of the span call it. */
  readonly kind: Kind | null;
  readonly otlpKind: number;
  readonly hint: AgentHint | null;
  /** Whether it only stands around agents. */
  readonly isWrapper: boolean;
}

/**
 * What a span says of its run's kind (`src/otlp/README.md`, "Runs that are no agent's"): `agent` where an agent, a workflow, a
 * model or a tool is at work, `other` where an agent is only made, or a service, a database or a queue is.
 */
export function runKindOf(
  { kind, otlpKind, hint, isWrapper }: KindOfSpan,
  reading: SpanReading,
): RunKind | null {
  if (isWrapper) return null;
  switch (kind) {
    case 'agent made':
      return 'other';
    case 'tool':
    case 'retrieval':
      return ofTool(otlpKind);
    case null:
    case 'custom':
      break;
    default:
      return 'agent';
  }
  if (namesItself(hint) || reading.has('is_agent')) return 'agent';
  // A step of something that a client for agents tells of; what that is, other spans say.
  if (kind === 'custom') return null;
  if (reading.has('is_tool')) return ofTool(otlpKind);
  if (reading.has('is_model')) return 'agent';
  const isService = (['is_message', 'is_db', 'is_http', 'is_rpc'] as const).some((is) => reading.has(is));
  return isService || SERVICES.has(otlpKind) ? 'other' : null;
}

/** A server that has the tool knows nothing of the agent that calls it. */
function ofTool(otlpKind: number): RunKind {
  return otlpKind === SERVER ? 'other' : 'agent';
}

/** Whether the span has an agent's or a workflow's name by a convention of such. */
function namesItself(hint: AgentHint | null): boolean {
  return hint !== null && hint.source !== 'service.name' && hint.source !== 'root span';
}
