import type { JsonObject, JsonValue } from '../../../signal/attributes.js';
import { isObject } from '../json-text.js';
import { parsePython } from './python-literal.js';
import { toCall } from './parts.js';

/** LangChain's message as printed by Python: its content, then its other fields. */
const PRINTED =
  /^content=('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\[\]) (?:name|tool_call_id|additional_kwargs|response_metadata)=/s;
/** Fields that only answers of a model have. */
const OF_ANSWERS = [" usage_metadata={'", " id='run-", " id='lc_run-", "'token_usage': "];
const CALLS = ' tool_calls=';
const BEHIND_CALLS = [' invalid_tool_calls=', ' usage_metadata='];

/** Whether a text is a printed LangChain message. */
export function isPrinted(value: JsonValue): value is string {
  return typeof value === 'string' && value.startsWith('content=') && PRINTED.test(value);
}

/** The content of a printed message. */
export function printedContent(text: string): JsonValue | undefined {
  const content = PRINTED.exec(text)?.[1];
  return content === undefined ? undefined : parsePython(content);
}

/** A printed message in the normalized form. It has a role if its fields show one. */
export function printedMessage(text: string): JsonObject {
  const literal = PRINTED.exec(text)?.[1] ?? '';
  const fields = text.slice('content='.length + literal.length);
  const calls = callsIn(fields);
  const id = / tool_call_id='([^']*)'/.exec(fields)?.[1];
  const message: JsonObject = {};
  if (id !== undefined) message.role = 'tool';
  else if (calls.length > 0 || OF_ANSWERS.some((field) => fields.includes(field))) message.role = 'assistant';
  const content = parsePython(literal);
  if (content !== undefined && content !== '' && !(Array.isArray(content) && content.length === 0))
    message.content = content;
  if (calls.length > 0) message.tool_calls = calls;
  if (id !== undefined) message.tool_call_id = id;
  return message;
}

function callsIn(fields: string): JsonValue[] {
  const start = fields.indexOf(CALLS);
  if (start < 0) return [];
  const ends = BEHIND_CALLS.map((field) => fields.indexOf(field, start)).filter((at) => at >= 0);
  const calls = parsePython(fields.slice(start + CALLS.length, Math.min(fields.length, ...ends)));
  return Array.isArray(calls) ? calls.filter(isObject).map(toCall) : [];
}
