import type { JsonValue } from '../../../signal/attributes.js';

/** What attributes can say of a span. Of each field the best source that a span has counts. */
export const FIELDS = [
  /** A {@link Kind}. */
  'kind',
  'is_tool',
  'is_model',
  'is_db',
  'is_http',
  'is_rpc',
  'is_agent',
  'is_pending',
  'tool_name',
  'agent',
  'openinference_agent',
  'workflow',
  'traceloop_workflow',
  'model',
  'provider',
  'session_id',
  'user_id',
  'tags',
  'langfuse_prompt_name',
  'traceloop_prompt_name',
  'gen_ai_prompt_name',
  'langfuse_prompt_version',
  'traceloop_prompt_version',
  'gen_ai_prompt_version',
  'error_type',
  'status_message',
  'input_tokens',
  'output_tokens',
  'total_tokens',
  'cache_read',
  'cache_creation',
  'reasoning',
  /** Micro-USD. */
  'cost',
  'input',
  'output',
  /** Of tools: what `input` and `output` are to other spans. */
  'arguments',
  'result',
  'system',
  'tools',
  'parameters',
  'finish_reasons',
  'http_method',
  'url',
  'http_status',
  'rpc_system',
  'rpc_service',
  'rpc_method',
  'rpc_status',
  'db_system',
  'db_namespace',
  'db_operation',
  'db_query',
  'db_rows',
] as const;
export type Field = (typeof FIELDS)[number];

/** What the conventions call a span. Retrieval is `db` where the span has attributes `db.*`, otherwise `tool`. */
export type Kind = 'agent' | 'llm' | 'tool' | 'custom' | 'retrieval' | 'agent at the root';

/** What a value says, or undefined where it says nothing, so that the next source counts. */
export type Reader = (value: JsonValue) => JsonValue | undefined;

/**
 * How a payload becomes `input_data` or `output_data`: `messages` a list of them; `text` what the assistant said;
 * `documents`, `embeddings` and `query` under these names; `whole` an object as it is, anything else by what it looks like.
 */
export type Shape = 'messages' | 'text' | 'documents' | 'embeddings' | 'query' | 'whole';

export interface Source {
  /** The place among the sources of the field in all conventions: the least counts. */
  readonly rank: number;
  /** Where the field's own reader does not do. */
  readonly read?: Reader;
  /** Of payloads; `whole` where it is missing. */
  readonly shape?: Shape;
}

/** The sources of a field by the attribute's key. */
type Sources = Readonly<Record<string, Source>>;

/** One way to name things in attributes. Pure data: the tables of all conventions become one (`sources.ts`). */
export interface Convention {
  readonly fields: { readonly [F in Field]?: Sources };
  /** Sources of which every attribute with a key that begins so is a part: `gen_ai.prompt.0.content`. */
  readonly prefixes?: { readonly [F in Field]?: Sources };
}
