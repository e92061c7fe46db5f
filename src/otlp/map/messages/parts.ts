import type { JsonObject, JsonValue } from '../../../signal/attributes.js';
import { isObject, parseStructure } from '../json-text.js';
import { parsePython } from './python-literal.js';
import { unquoted } from './texts.js';

/** A requested tool call: `{id?, name?, arguments?}`. */
export type ToolCall = JsonObject;

/** The contents of a message, by kind. */
export interface MessageParts {
  /** `{type: 'text', text}`, `{type: 'reasoning', text}`, and other parts unchanged. */
  readonly content: JsonValue[];
  readonly calls: ToolCall[];
  /** Messages of their own: `{role: 'tool', tool_call_id?, name?, content?}`. */
  readonly results: JsonObject[];
}

/** Type names of content parts, by kind. */
const TEXT: ReadonlySet<JsonValue | undefined> = new Set([
  'text',
  'input_text',
  'output_text',
  'summary_text',
]);
const REASONING: ReadonlySet<JsonValue | undefined> = new Set(['reasoning', 'thinking']);
const CALL: ReadonlySet<JsonValue | undefined> = new Set([
  'tool_call',
  'tool-call',
  'tool_use',
  'function_call',
  'function',
]);
const RESULT: ReadonlySet<JsonValue | undefined> = new Set([
  'tool_call_response',
  'tool-result',
  'tool_result',
  'tool_response',
  'function_call_output',
]);
/** Keys that identify parts without a type. */
const KEYED: readonly string[] = [
  'text',
  'toolUse',
  'toolResult',
  'functionCall',
  'function_call',
  'functionResponse',
  'function_response',
  'reasoningContent',
  // Genkit, then Haystack.
  'toolRequest',
  'toolResponse',
  'tool_call',
  'tool_call_result',
];

/** Adds a content of any shape to `parts`: a text, JSON text of a list of parts, one part or many. */
export function addContent(content: JsonValue | undefined, parts: MessageParts): void {
  if (content === null || content === undefined) return;
  if (typeof content === 'string') {
    const text = unquoted(content);
    const list = text.startsWith('[') ? parseStructure(text) : undefined;
    if (Array.isArray(list) && list.length > 0 && list.every(isPart)) addContent(list, parts);
    else if (text !== '') parts.content.push({ type: 'text', text });
  } else if (Array.isArray(content)) {
    for (const part of content) addPart(part, parts);
  } else if (isObject(content)) {
    addPart(content, parts);
  } else {
    parts.content.push({ type: 'text', text: String(content) });
  }
}

/** A message's list of calls, separate from its content. */
export function addCalls(calls: JsonValue | undefined, parts: MessageParts): void {
  const list = typeof calls === 'string' ? parseStructure(calls) : calls;
  for (const call of Array.isArray(list) ? list : [])
    if (isObject(call) && !parts.calls.some((known) => isSame(known, call))) parts.calls.push(toCall(call));
}

/** @param call in the shape of any provider or client */
export function toCall(call: JsonObject): ToolCall {
  const inner = isObject(call.function) ? call.function : call;
  const made: ToolCall = {};
  const id = idOf(call);
  if (id !== undefined) made.id = id;
  const name = inner.name ?? inner.toolName ?? inner.tool_name;
  if (typeof name === 'string') made.name = name;
  const sent = inner.arguments ?? inner.args ?? inner.input ?? inner.parameters ?? inner.tool_kwargs;
  const given = typeof sent === 'string' ? (parseStructure(sent) ?? sent) : sent;
  if (given !== undefined && given !== null && given !== '') made.arguments = given;
  return made;
}

/** A content in its shortest form: a text if it is one text, otherwise a list of parts; undefined if it is empty. */
export function contentOf(parts: readonly JsonValue[]): JsonValue | undefined {
  const [only] = parts;
  if (parts.length === 1 && isObject(only) && only.type === 'text') return only.text ?? '';
  return parts.length === 0 ? undefined : [...parts];
}

/** The content of a tool result. */
export function resultContent(result: JsonValue | undefined): JsonValue | undefined {
  if (isObject(result)) {
    // The Vercel AI SDK sends the type next to the value.
    if ('value' in result && typeof result.type === 'string') return resultContent(result.value);
    if (!isPart(result)) return result;
  }
  const parts = noParts();
  addContent(result, parts);
  return contentOf(parts.content);
}

export function noParts(): MessageParts {
  return { content: [], calls: [], results: [] };
}

export function isPart(value: JsonValue): boolean {
  if (!isObject(value)) return false;
  const { type } = value;
  if (typeof type !== 'string') return KEYED.some((key) => key in value);
  return TEXT.has(type) || REASONING.has(type) || CALL.has(type) || RESULT.has(type);
}

function addPart(part: JsonValue, parts: MessageParts): void {
  if (typeof part === 'string') {
    parts.content.push({ type: 'text', text: part });
    return;
  }
  if (!isObject(part)) {
    parts.content.push(part);
    return;
  }
  const type = part.type ?? part.block_type;
  const printed = TEXT.has(type) ? printedPart(textOf(part) ?? '') : undefined;
  if (printed !== undefined) {
    addPart(printed, parts);
    return;
  }
  const call = CALL.has(type)
    ? part
    : (part.toolUse ?? part.functionCall ?? part.function_call ?? part.toolRequest ?? part.tool_call);
  const result = RESULT.has(type)
    ? part
    : (part.toolResult ??
      part.functionResponse ??
      part.function_response ??
      part.toolResponse ??
      part.tool_call_result);
  if (isObject(call)) addCalls([call], parts);
  else if (isObject(result)) parts.results.push(toResult(result));
  else if (!isEmptyText(part, type)) parts.content.push(toContent(part, type));
}

const PRINTED_CALL = 'ResponseFunctionToolCall(';
const PRINTED_TEXT = "'type': 'output_text'";

/** An item of OpenAI's Responses that a client printed by Python into a text: a call, or a part of a message. */
function printedPart(text: string): JsonObject | undefined {
  if (text.startsWith(PRINTED_CALL)) {
    const [name, id, args] = ['name', 'call_id', 'arguments'].map((field) => printedField(text, field));
    return typeof name === 'string'
      ? { type: 'function_call', name, call_id: id ?? null, arguments: args ?? null }
      : undefined;
  }
  const part = text.startsWith('{') && text.includes(PRINTED_TEXT) ? parsePython(text) : undefined;
  return part !== undefined && isObject(part) && part.type === 'output_text' ? part : undefined;
}

function printedField(text: string, field: string): JsonValue | undefined {
  const literal = new RegExp(`[ (]${field}=('(?:[^'\\\\]|\\\\.)*'|"(?:[^"\\\\]|\\\\.)*")`, 's').exec(
    text,
  )?.[1];
  return literal === undefined ? undefined : parsePython(literal);
}

function isEmptyText(part: JsonObject, type: JsonValue | undefined): boolean {
  return TEXT.has(type) && textOf(part) === '';
}

function toContent(part: JsonObject, type: JsonValue | undefined): JsonValue {
  const text = textOf(part);
  if (text === undefined) return part;
  if (REASONING.has(type) || part.thought === true || isObject(part.reasoningContent))
    return { type: 'reasoning', text };
  return type === undefined || TEXT.has(type) ? { type: 'text', text } : part;
}

function textOf(part: JsonObject): string | undefined {
  const inner = isObject(part.reasoningContent) ? part.reasoningContent.reasoningText : undefined;
  const found = part.text ?? part.content ?? part.thinking ?? (isObject(inner) ? inner.text : undefined);
  return typeof found === 'string' ? found : undefined;
}

function toResult(result: JsonObject): JsonObject {
  const made: JsonObject = { role: 'tool' };
  // Haystack stores the call with its result.
  const call = isObject(result.origin) ? result.origin : result;
  const id = idOf(call);
  if (id !== undefined) made.tool_call_id = id;
  const name = call.name ?? call.toolName ?? call.tool_name;
  if (typeof name === 'string') made.name = name;
  const content = resultContent(result.response ?? result.result ?? result.output ?? result.content);
  if (content !== undefined) made.content = content;
  return made;
}

function idOf(part: JsonObject): string | undefined {
  const id =
    part.call_id ??
    part.tool_call_id ??
    part.toolCallId ??
    part.toolUseId ??
    part.tool_use_id ??
    part.ref ??
    part.id;
  return typeof id === 'string' ? id : undefined;
}

/** Some clients send a call twice in one message, in its content and in the list of calls. */
function isSame(known: ToolCall, call: JsonObject): boolean {
  return known.id !== undefined && known.id === idOf(call);
}
