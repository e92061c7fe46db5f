import type { JsonValue } from '../../../signal/attributes.js';
import type { Dimension } from '../../../signal/run-context.js';

/** Fields set by attributes of a span. For each field the best source of the span counts. */
export const FIELDS = [
  /** A {@link Kind}. */
  'kind',
  /** Whether the span is a step, regardless of its reported kind. */
  'is_step',
  'is_tool',
  'is_model',
  'is_db',
  'is_http',
  'is_rpc',
  'is_agent',
  /** Messages between processes, between actors, or between an MCP client and its server. */
  'is_message',
  'is_pending',
  'is_mcp',
  /** Whether the client reports a failure, regardless of the status. */
  'is_failed',
  /** Whether the usage and the cost repeat those of other spans. */
  'repeats_usage',
  'tool_name',
  /** The readable name of a span whose name is a template: `Function: {name}`. */
  'spoken_name',
  /** Names of the run's agent; `agent-hint.ts` orders them. */
  'agent',
  'openinference_agent',
  'function',
  'workflow',
  'lc_agent',
  'langfuse_trace',
  /** The name of a span's own agent. */
  'entity',
  'model',
  /** The requested model. */
  'asked_model',
  /** A gateway's name for the model, which it may also report as the answering model. */
  'model_alias',
  'provider',
  'service_tier',
  /** Whether the response came from a gateway's cache. */
  'is_cache_hit',
  /** The provider's id of the response. */
  'response_id',
  'session_id',
  'user_id',
  /** The user's name if `user_id` is only a hash. */
  'user_email',
  'tags',
  /** Dimensions of the run: `DIMENSIONS` in `signal/run-context.ts`. */
  'environment',
  'release',
  'agent_version',
  'repository',
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
  'cached_read',
  'cached_write',
  'cached_write_5m',
  'cached_write_1h',
  'reasoning',
  'audio_input',
  'audio_output',
  /** Nano-USD, like all that follow: of the whole call, of all its input, of all its output, and of parts of these. */
  'cost',
  'cost_input',
  'cost_output',
  'cost_cached_read',
  'cost_cached_write',
  'cost_cached_write_5m',
  'cost_cached_write_1h',
  'cost_audio_input',
  'cost_audio_output',
  'input',
  'output',
  /** For tools: the counterparts of `input` and `output`. */
  'arguments',
  'result',
  'system',
  'tools',
  'parameters',
  'finish_reasons',
  /** From the start of a call to the first chunk of its answer: in milliseconds, as the time of the chunk, and without a unit. */
  'first_chunk',
  'first_chunk_at',
  'first_token',
  'http_method',
  'url',
  'http_status',
  'rpc_system',
  'rpc_service',
  'rpc_method',
  'rpc_status',
  /** The called party: a declared name, an address, a queue, or an MCP server. */
  'peer',
  'server_address',
  'queue',
  'queue_system',
  'mcp_server',
  'mcp_resource',
  'memory_store',
  'db_system',
  'db_namespace',
  'db_operation',
  'db_query',
  'db_rows',
] as const;
export type Field = (typeof FIELDS)[number];

/**
 * The kinds of spans in the conventions. Retrieval is `db` if the span has attributes `db.*`, otherwise `tool`. A chain is `custom`,
 * but names its run if it is the root. `memory` is the use of an agent's memory, a `db`. `agent made` is the creation of an agent,
 * which is not a run of it. `named root` says nothing about a span except that its name is the run's agent if it is the root.
 */
export type Kind =
  | 'agent'
  | 'agent made'
  | 'llm'
  | 'tool'
  | 'custom'
  | 'retrieval'
  | 'memory'
  | 'root span is an agent'
  | 'named root'
  | 'chain';

/** Converts a value; undefined if it is empty, so that the next source counts. */
export type Reader = (value: JsonValue) => JsonValue | undefined;

/**
 * How a payload becomes `input_data` or `output_data`: `messages` a list of them; `text` the assistant's text, `calls` its tool calls;
 * `prompt` a question with its system prompt; `documents`, `embeddings` and `query` under these names; `whole` is detected from the
 * value.
 */
export type Shape = 'messages' | 'text' | 'calls' | 'prompt' | 'documents' | 'embeddings' | 'query' | 'whole';

export interface Source {
  /** The place among all sources of the field; the lowest rank counts. */
  readonly rank: number;
  /** Overrides the field's own reader. */
  readonly read?: Reader;
  /** For payloads; default `whole`. */
  readonly shape?: Shape;
}

/** The sources of a field by the attribute's key. */
type Sources = Readonly<Record<string, Source>>;

/** Kinds of spans that a client shows only in their names. */
interface SpanNames {
  /** Name of the instrumentation scope. `*` matches any scope; then the span names must be unique to this client and have no stars. */
  readonly scope: string;
  /** Span names and their kinds. `*` matches any text. */
  readonly kinds: Readonly<Record<string, Kind>>;
}

/** How the names of agents are found in names of spans (`agent-names.ts`). Case is ignored; `*` matches any text. */
interface NamesOfAgents {
  /** Patterns around the name: `agent_run [*]`, `*.run`. `*` is the name. */
  readonly around?: readonly string[];
  /** Names of types of things rather than of particular ones. */
  readonly generic?: readonly string[];
  /** Values of the resource's `service.name` that an SDK sets if the program sets none. */
  readonly services?: readonly string[];
  /** Names of spans that only wrap agents, regardless of their reported kind: their status is OK even if the agents failed. */
  readonly wrappers?: readonly string[];
}

/**
 * What a log event of a program means: `prompt` that a user asked something, `request` where the next call is traced, `call` a model
 * call, which counts if it has tokens or failed, `answer` the text of a call, `tool` the call of a tool.
 */
export type EventKind = 'prompt' | 'request' | 'call' | 'answer' | 'tool';

/** Log events of a program that may send no spans. `logged-runs.ts` makes spans of them. */
export interface ProgramEvents {
  /** Prefix of the names of all its events. */
  readonly prefix: string;
  /** Names of services and scopes that identify the program in events without the prefix. */
  readonly programs: readonly string[];
  /** By the name without the prefix. */
  readonly kinds: Readonly<Record<string, EventKind>>;
  /** The rest of the name of the event that reports, in `decision`, whether a tool may be used. */
  readonly decision?: string;
  /** Whether its input tokens exclude cached tokens. */
  readonly separateCaches?: boolean;
  /** Event kinds that only events report completely, even if the program sends spans. */
  readonly onlyEvents?: readonly EventKind[];
}

/** The conventions of one client or specification. Pure data: all tables are merged into one (`sources.ts`). */
export interface Convention {
  readonly fields?: { readonly [F in Field]?: Sources };
  /** Sources that consist of all attributes with a prefix: `gen_ai.prompt.0.content`. */
  readonly prefixes?: { readonly [F in Field]?: Sources };
  /** Attributes of resources, with their rank among the sources of all clients. */
  readonly resource?: { readonly [F in Dimension]?: Readonly<Record<string, number>> };
  /** Values of `service.name` or `telemetry.sdk.name` of resources whose `service.version` is that of the SDK. */
  readonly sdkVersions?: readonly string[];
  readonly spanNames?: SpanNames;
  /** Names of span events whose attributes are read, each as `event.attribute`. */
  readonly events?: readonly string[];
  /** Names of span events at the first chunk of an answer, or at each. */
  readonly chunkEvents?: readonly string[];
  /** Instrumentation scopes that report a failure by an exception alone, without a status. */
  readonly failedByException?: readonly string[];
  /** Instrumentation scopes whose input tokens exclude cached tokens. */
  readonly separateCaches?: readonly string[];
  /** Instrumentation scopes whose agents report the tokens of all their runs so far. Only those of the calls count. */
  readonly runningTotals?: readonly string[];
  /** Instrumentation scopes that send 0 for an unknown cost. `*` matches any text. */
  readonly zeroCosts?: readonly string[];
  readonly agentNames?: NamesOfAgents;
  /**
   * Names of instrumentation scopes whose spans of type `custom` are inner steps of a framework, regardless of their attributes: they create no
   * node in the service map. `*` matches any text.
   */
  readonly stepScopes?: readonly string[];
  /** Instrumentation scopes whose roots only wrap agents, unless an attribute names an agent: their status is OK even if the agents failed. */
  readonly wrapperScopes?: readonly string[];
  /**
   * Names of instrumentation scopes by which a program traces its own functions: a trace of theirs without a model, a tool or an agent
   * is of kind `other`. `*` matches any text.
   */
  readonly programScopes?: readonly string[];
  /** Scopes whose roots do not report failures: the last model call decides the outcome of the run. Also list them in {@link wrapperScopes}. */
  readonly lastCalls?: readonly string[];
  /** Spans that do the work of their parent, which does not report their failure. */
  readonly failedParts?: { readonly scope: string; readonly names: readonly string[] };
  readonly programEvents?: ProgramEvents;
  /** Patterns around the name of a tool in span names, for tools that are named nowhere else: `execute_tool *`. */
  readonly toolNames?: readonly string[];
}
