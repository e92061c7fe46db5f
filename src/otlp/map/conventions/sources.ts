import { CONVENTIONS } from '../clients/index.js';
import { FIELDS, type Convention, type Field, type Reader, type Shape, type Source } from './convention.js';
import {
  cost,
  count,
  hit,
  identity,
  milliseconds,
  payload,
  present,
  text,
  texts,
  version,
} from './readers.js';

const READERS: Readonly<Record<Field, Reader>> = {
  kind: text,
  is_step: present,
  is_tool: present,
  is_model: present,
  is_db: present,
  is_http: present,
  is_rpc: present,
  is_agent: present,
  is_message: present,
  is_pending: present,
  is_mcp: present,
  is_failed: present,
  repeats_usage: present,
  tool_name: text,
  spoken_name: text,
  agent: text,
  openinference_agent: text,
  function: text,
  workflow: text,
  lc_agent: text,
  langfuse_trace: text,
  entity: text,
  model: identity,
  asked_model: identity,
  model_alias: identity,
  provider: text,
  service_tier: text,
  is_cache_hit: hit,
  response_id: identity,
  session_id: identity,
  user_id: identity,
  user_email: identity,
  tags: texts,
  environment: identity,
  release: identity,
  agent_version: identity,
  repository: identity,
  langfuse_prompt_name: text,
  traceloop_prompt_name: text,
  gen_ai_prompt_name: text,
  langfuse_prompt_version: version,
  traceloop_prompt_version: version,
  gen_ai_prompt_version: version,
  error_type: text,
  status_message: text,
  input_tokens: count,
  output_tokens: count,
  total_tokens: count,
  cached_read: count,
  cached_write: count,
  cached_write_5m: count,
  cached_write_1h: count,
  reasoning: count,
  audio_input: count,
  audio_output: count,
  cost,
  cost_input: cost,
  cost_output: cost,
  cost_cached_read: cost,
  cost_cached_write: cost,
  cost_cached_write_5m: cost,
  cost_cached_write_1h: cost,
  cost_audio_input: cost,
  cost_audio_output: cost,
  input: payload,
  output: payload,
  arguments: payload,
  result: payload,
  system: payload,
  tools: payload,
  parameters: payload,
  finish_reasons: texts,
  first_chunk: milliseconds,
  first_chunk_at: text,
  first_token: milliseconds,
  http_method: text,
  url: text,
  http_status: count,
  rpc_system: text,
  rpc_service: text,
  rpc_method: text,
  rpc_status: text,
  peer: text,
  server_address: text,
  queue: text,
  queue_system: text,
  mcp_server: text,
  mcp_resource: text,
  memory_store: text,
  db_system: text,
  db_namespace: text,
  db_operation: text,
  db_query: text,
  db_rows: count,
};

/** A source with the number of its field and all defaults of {@link Source}. */
export interface Use {
  /** The attribute's key, or the common prefix of several. */
  readonly key: string;
  readonly field: number;
  readonly rank: number;
  readonly read: Reader;
  readonly shape: Shape;
}

/** A use of all attributes with a common prefix. */
export interface PrefixUse extends Use {
  readonly prefix: string;
  /** Whether a number must follow, as in lists: `gen_ai.prompt.name` is no message. */
  readonly isNumbered: boolean;
}

/** An object, because it is read many times per span, always with a literal key. */
const FIELD_NUMBERS = Object.fromEntries(FIELDS.map((field, number) => [field, number])) as Readonly<
  Record<Field, number>
>;

export function fieldNumber(field: Field): number {
  return FIELD_NUMBERS[field];
}

/** The uses of an attribute, by its key. */
export const USES: ReadonlyMap<string, readonly Use[]> = usesByKey();

const PREFIX_USES: readonly PrefixUse[] = CONVENTIONS.flatMap(({ prefixes = {} }) =>
  entries(prefixes).map(([prefix, field, source]) => ({
    ...useOf(prefix, field, source),
    prefix,
    isNumbered: field !== 'parameters',
  })),
);

/** The first character excludes nearly every attribute without a convention. */
const PREFIXES_BY_CHARACTER: ReadonlyMap<number, readonly PrefixUse[]> = new Map(
  PREFIX_USES.map(({ prefix }) => {
    const first = prefix.charCodeAt(0);
    return [first, PREFIX_USES.filter((use) => use.prefix.charCodeAt(0) === first)];
  }),
);

/** The list or group that an attribute with this key is a part of, for keys that {@link USES} lacks. */
export function prefixUse(key: string): PrefixUse | undefined {
  const candidates = PREFIXES_BY_CHARACTER.get(key.charCodeAt(0));
  return candidates?.find(
    ({ prefix, isNumbered }) =>
      key.startsWith(prefix) &&
      key.length > prefix.length &&
      (!isNumbered || isDigit(key.charCodeAt(prefix.length))),
  );
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function usesByKey(): ReadonlyMap<string, readonly Use[]> {
  const uses = new Map<string, Use[]>();
  for (const { fields = {} } of CONVENTIONS)
    for (const [key, field, source] of entries(fields)) {
      const known = uses.get(key);
      if (known) known.push(useOf(key, field, source));
      else uses.set(key, [useOf(key, field, source)]);
    }
  return uses;
}

function entries(
  fields: NonNullable<Convention['fields']>,
): readonly (readonly [key: string, Field, Source])[] {
  return FIELDS.flatMap((field) =>
    Object.entries(fields[field] ?? {}).map(([key, source]) => [key, field, source] as const),
  );
}

/** The use of an attribute as a source of a field. */
export function useOf(key: string, field: Field, { rank, read, shape }: Source): Use {
  return { key, field: fieldNumber(field), rank, read: read ?? READERS[field], shape: shape ?? 'whole' };
}
