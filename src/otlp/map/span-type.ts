import type { SpanType } from '../../signal/span.js';
import type { Field, Kind } from './conventions/convention.js';
import type { SpanReading } from './span-reading.js';
import type { Ground } from './provenance.js';

const CLIENT = 3;
const SERVER = 2;
const MCP_METHOD = 'mcp.method.name';
const SENDS_CALL = /^\S.* tools\/call\b/;

/**
 * The type of a span: the first matching row of the table in `src/otlp/README.md`.
 *
 * @param kind according to attributes or the span's name
 * @param hasDb whether the span has any attribute `db.*`
 */
export function spanType(
  reading: SpanReading,
  kind: Kind | null,
  otlpKind: number,
  isRoot: boolean,
  hasDb: boolean,
  spanName: string,
): SpanType {
  // The client's span reports the tool call.
  if (reading.has('is_mcp') && otlpKind === SERVER && !isRoot) return by('is_mcp', 'custom', reading);
  // Rows 1 to 5: the order is the rank of the sources.
  if (kind !== null && kind !== 'named root') return typeOfKind(kind, isRoot, hasDb);
  if (reading.has('is_tool') && !isTransport(reading, spanName)) return by('is_tool', 'tool', reading);
  if (reading.has('is_model')) return by('is_model', 'llm', reading);
  // Databases called over HTTP have the attributes of both.
  if (reading.has('is_db')) return by('is_db', 'db', reading);
  if (reading.has('is_http') && otlpKind === CLIENT) return by('is_http', 'http', reading);
  if (reading.has('is_rpc') && otlpKind !== SERVER) return by('is_rpc', 'http', reading);
  if (reading.has('is_agent')) return by('is_agent', 'agent', reading);
  if (hasTokens(reading)) return by('input_tokens', 'llm', reading);
  reading.provenance?.decided('type', untypedReason(reading, otlpKind, isRoot));
  return isRoot ? 'agent' : 'custom';
}

/** Whether an MCP client's span only sends the call of a tool that another span reports: `MCP send tools/call add`. */
function isTransport(reading: SpanReading, spanName: string): boolean {
  return reading.source('is_tool') === MCP_METHOD && SENDS_CALL.test(spanName);
}

/** Whether a span reports tokens; only models use tokens. */
export function hasTokens(reading: SpanReading): boolean {
  return !reading.has('repeats_usage') && TOKENS.some((field) => (reading.count(field) ?? 0) > 0);
}

const TOKENS = ['input_tokens', 'output_tokens', 'total_tokens'] as const;

function untypedReason(reading: SpanReading, otlpKind: number, isRoot: boolean): Ground {
  if (otlpKind === SERVER && (reading.has('is_http') || reading.has('is_rpc')))
    return isRoot
      ? 'a root span that is a request to a server (kind server)'
      : 'a request to a server (kind server), not a root span';
  return isRoot ? 'a root span without a known kind' : 'no known kind';
}

function by(field: Field, type: SpanType, reading: SpanReading): SpanType {
  reading.provenance?.decided('type', field);
  return type;
}

function typeOfKind(kind: Exclude<Kind, 'named root'>, isRoot: boolean, hasDb: boolean): SpanType {
  switch (kind) {
    case 'retrieval':
      return hasDb ? 'db' : 'tool';
    case 'root span is an agent':
      return isRoot ? 'agent' : 'custom';
    case 'agent made':
      return 'agent';
    case 'chain':
      return 'custom';
    case 'memory':
      return 'db';
    default:
      return kind;
  }
}
