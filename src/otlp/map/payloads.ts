import { isDeepStrictEqual } from 'node:util';
import type { JsonObject, JsonValue } from '../../signal/attributes.js';
import type { SpanType } from '../../signal/span.js';
import type { Field } from './conventions/convention.js';
import { isObject } from './json-text.js';
import { haveContent } from './messages/message.js';
import { toolInput, toolOutput } from './messages/tool-values.js';
import { parsed } from './messages/texts.js';
import { hasContent, shaped, type Shaped } from './shapes.js';
import type { FoundPayload, SpanReading } from './span-reading.js';

/**
 * The input of a step: `{arguments}` for tools, `{method, url}` for HTTP requests, `{system, namespace, operation, query}` for
 * databases, for all others `{messages, system, tools, parameters}` or the received object.
 */
export function inputData(type: SpanType, reading: SpanReading): JsonObject | null {
  switch (type) {
    case 'tool':
      return wrapped(
        'arguments',
        of('input_data', 'arguments', reading) ?? of('input_data', 'input', reading),
        toolInput,
      );
    case 'http':
      return request(reading) ?? question(reading);
    case 'db':
      return query(reading) ?? question(reading);
    case 'llm':
      return question(reading, true);
    case 'agent':
    case 'custom':
      return question(reading) ?? (reading.has('is_mcp') ? mcpRequest(reading) : null);
  }
}

/** The request to an MCP server: arguments of a tool, a resource, or a prompt with its variables. */
function mcpRequest(reading: SpanReading): JsonObject | null {
  const args = of('input_data', 'arguments', reading);
  if (args !== undefined) return wrapped('arguments', args, toolInput);
  const uri = reading.text('mcp_resource');
  const prompt = reading.text('gen_ai_prompt_name');
  if (uri === null && prompt === null) return null;
  reading.provenance?.decided('input_data', uri === null ? 'gen_ai_prompt_name' : 'mcp_resource');
  const variables = reading.payload('parameters');
  return withoutNulls({ uri, prompt, variables: variables === undefined ? null : parsed(variables.value) });
}

/** The output of a step: `{result}`, `{status_code}`, `{returned_rows}`, `{messages, finish_reasons}` or the received object. */
export function outputData(type: SpanType, reading: SpanReading): JsonObject | null {
  switch (type) {
    case 'tool':
      return wrapped(
        'result',
        of('output_data', 'result', reading) ?? of('output_data', 'output', reading),
        toolOutput,
      );
    case 'http':
      return status(reading) ?? answer(reading);
    case 'db':
      return rows(reading) ?? answer(reading);
    case 'llm':
      return joinedChunks(answer(reading));
    case 'agent':
    case 'custom':
      return answer(reading) ?? (reading.has('is_mcp') ? mcpResult(reading) : null);
  }
}

function mcpResult(reading: SpanReading): JsonObject | null {
  return wrapped('result', of('output_data', 'result', reading), toolOutput);
}

function of(
  what: 'input_data' | 'output_data',
  field: Field,
  reading: SpanReading,
): FoundPayload | undefined {
  const found = reading.payload(field);
  if (found !== undefined) reading.provenance?.found(what, found.source);
  return found;
}

function wrapped(
  name: string,
  found: FoundPayload | undefined,
  read: (value: JsonValue) => JsonValue,
): JsonObject | null {
  return found === undefined ? null : { [name]: read(found.value) };
}

function request(reading: SpanReading): JsonObject | null {
  if (reading.has('http_method') || reading.has('url')) {
    reading.provenance?.decided('input_data', reading.has('url') ? 'url' : 'http_method');
    return withoutNulls({ method: reading.text('http_method'), url: reading.text('url') });
  }
  if (!reading.has('rpc_system')) return null;
  reading.provenance?.decided('input_data', 'rpc_method');
  return withoutNulls({
    system: reading.text('rpc_system'),
    service: reading.text('rpc_service'),
    method: reading.text('rpc_method'),
  });
}

function status(reading: SpanReading): JsonObject | null {
  const code = reading.count('http_status') ?? reading.text('rpc_status');
  if (code === null) return null;
  reading.provenance?.decided('output_data', reading.has('http_status') ? 'http_status' : 'rpc_status');
  return { status_code: code };
}

function query(reading: SpanReading): JsonObject | null {
  const found = of('input_data', 'input', reading);
  if (reading.has('db_query')) reading.provenance?.decided('input_data', 'db_query');
  else if (found === undefined) reading.provenance?.decided('input_data', 'db_system');
  const asked = reading.text('db_query') ?? (found === undefined ? null : parsed(found.value));
  const data = withoutNulls({
    system: reading.text('db_system'),
    namespace: reading.text('db_namespace'),
    operation: reading.text('db_operation'),
    query: asked,
  });
  return Object.keys(data).length === 0 ? null : data;
}

function rows(reading: SpanReading): JsonObject | null {
  const count = reading.count('db_rows');
  if (count === null) return null;
  reading.provenance?.decided('output_data', 'db_rows');
  const found = reading.payload('output');
  return { returned_rows: count, ...(found === undefined ? {} : { result: parsed(found.value) }) };
}

function question(reading: SpanReading, isCall = false): JsonObject | null {
  const found = best(reading, 'input', null, !isCall);
  const system = reading.payload('system');
  if (found === undefined && system === undefined) return null;
  if (found === undefined) reading.provenance?.decided('input_data', 'system');
  const { data, isWhole } = found ?? { data: {}, isWhole: false };
  if (isWhole) return data;
  if (system !== undefined) data.system = parsed(system.value);
  const tools = reading.payload('tools');
  if (tools !== undefined) data.tools = toolList(tools.value);
  const parameters = reading.payload('parameters');
  if (parameters !== undefined) data.parameters = parsed(parameters.value);
  return data;
}

function answer(reading: SpanReading): JsonObject | null {
  const found = best(reading, 'output', 'assistant');
  if (found === undefined) return null;
  const { data, isWhole } = found;
  const reasons = reading.value('finish_reasons');
  if (reasons !== null && !isWhole) data.finish_reasons = reasons;
  return data;
}

/**
 * Joins the chunks of a streamed answer, which some clients send as messages of their own: texts of one role without a finish reason
 * before one with it. Choices each have a reason.
 */
function joinedChunks(data: JsonObject | null): JsonObject | null {
  const messages = data?.messages;
  if (!Array.isArray(messages) || messages.length < 2) return data;
  const joined: JsonValue[] = [];
  let chunks: (JsonObject & { content: string })[] = [];
  for (const message of messages) {
    const role = chunks[0]?.role;
    if (isChunk(message) && (role === undefined || role === message.role)) {
      chunks.push(message);
      continue;
    }
    if (chunks.length > 0 && isLastChunk(message, role)) {
      const content = chunks.map((chunk) => chunk.content).join('') + (message.content ?? '');
      joined.push({ ...message, content });
    } else {
      joined.push(...chunks, message);
    }
    chunks = [];
  }
  joined.push(...chunks);
  return joined.length === messages.length ? data : { ...data, messages: joined };
}

function isChunk(message: JsonValue): message is JsonObject & { content: string } {
  return (
    isObject(message) &&
    typeof message.content === 'string' &&
    typeof message.role === 'string' &&
    Object.keys(message).length === 2
  );
}

function isLastChunk(
  message: JsonValue,
  role: JsonValue | undefined,
): message is JsonObject & { content?: string } {
  return (
    isObject(message) &&
    message.role === role &&
    typeof message.finish_reason === 'string' &&
    (message.content === undefined || typeof message.content === 'string')
  );
}

/**
 * The best source with content beyond roles; the best of all if none has any.
 *
 * @param mayBePart whether one message may be a part of another source's conversation
 */
function best(
  reading: SpanReading,
  field: 'input' | 'output',
  role: 'assistant' | null,
  mayBePart = false,
): Shaped | undefined {
  const found = reading.payloads(field);
  const what = field === 'input' ? 'input_data' : 'output_data';
  let first: Shaped | undefined;
  for (const [i, payload] of found.entries()) {
    const each = shaped(payload, role, found);
    if (first === undefined) reading.provenance?.found(what, payload.source);
    first ??= each;
    if (!hasContent(each)) continue;
    reading.provenance?.found(what, payload.source);
    const others = found.slice(i + 1);
    return (mayBePart ? conversation(each, others, reading) : undefined) ?? filled(each, others);
  }
  return first;
}

/** For a step of LangGraph, OpenInference sends the first message alone and, separately, the state with the whole conversation. */
function conversation(
  { data: { messages } }: Shaped,
  others: readonly FoundPayload[],
  { provenance }: SpanReading,
): Shaped | undefined {
  if (!Array.isArray(messages) || messages.length !== 1) return undefined;
  for (const payload of others) {
    const other = shaped(payload, null, others);
    const all = other.data.messages;
    if (!Array.isArray(all) || all.length < 2 || !isDeepStrictEqual(all[0], messages[0])) continue;
    provenance?.found('input_data', payload.source);
    return other;
  }
  return undefined;
}

/** Fills messages without content, such as those whose content is a list of parts, from another source of the same conversation. */
function filled(shapedData: Shaped, others: readonly FoundPayload[]): Shaped {
  const { messages } = shapedData.data;
  if (!Array.isArray(messages) || !messages.some(isBare)) return shapedData;
  for (const payload of others) {
    const all = shaped(payload, null, others).data.messages;
    if (!Array.isArray(all) || all.length !== messages.length) continue;
    const whole = messages.map((message, i) =>
      isBare(message) && isSameRole(message, all[i]) ? all[i] : message,
    );
    return { ...shapedData, data: { ...shapedData.data, messages: whole } };
  }
  return shapedData;
}

function isBare(message: JsonValue): boolean {
  return isObject(message) && !haveContent([message]);
}

function isSameRole(one: JsonValue, other: JsonValue | undefined): other is JsonObject {
  return isObject(one) && isObject(other) && one.role === other.role;
}

function toolList(value: JsonValue): JsonValue {
  const list = parsed(value);
  return Array.isArray(list) ? list.map(toolDefinition) : list;
}

/** Many conventions send definitions, or parts of them, as JSON text. */
function toolDefinition(tool: JsonValue): JsonValue {
  const definition = parsed(tool);
  if (!isObject(definition)) return definition;
  if (typeof definition.json_schema === 'string') return parsed(definition.json_schema);
  if (typeof definition.parameters !== 'string') return definition;
  return { ...definition, parameters: parsed(definition.parameters) };
}

function withoutNulls(values: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}
