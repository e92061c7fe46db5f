import type { JsonObject, JsonValue } from '../../../signal/attributes.js';
import { isObject } from '../json-text.js';
import { isPart, resultContent } from './parts.js';
import { isPrinted, printedContent } from './printed-message.js';
import { parsePython } from './python-literal.js';
import { parsed, untyped } from './texts.js';
import { isMessage, toMessages } from './message.js';

/** A tool's input, without its client's wrapper. */
export function toolInput(sent: JsonValue): JsonValue {
  const value = untyped(parsed(sent));
  if (typeof value === 'string') return (/^\s*[{[]/.test(value) ? parsePython(value) : undefined) ?? value;
  const message = messageContent(value);
  if (message !== undefined) return toolInput(message);
  if (!isObject(value)) return value;
  const { args, kwargs, inputs, input_str: text } = value;
  // Arguments of a Python function.
  if (Array.isArray(args) && isObject(kwargs)) {
    if (args.length === 0) return kwargs;
    return Object.keys(kwargs).length === 0 ? args : { args, kwargs };
  }
  const kwargsAlone = onlyValue(value, 'kwargs');
  if (isObject(kwargsAlone)) return kwargsAlone;
  // LangChain's tools as sent by OpenLLMetry and LangSmith.
  if (typeof text === 'string') return isObject(inputs) ? inputs : toolInput(text);
  // BeeAI, with the options of the run.
  const { input: asked, options, ...rest } = value;
  if (isObject(asked) && 'options' in value && Object.keys(rest).length === 0 && !isObject(options))
    return asked;
  // CrewAI's tools as sent by OpenInference.
  if (isObject(value.calling) && 'arguments' in value.calling)
    return toolInput(value.calling.arguments ?? null);
  const inner = onlyValue(value, 'input');
  const given = typeof inner === 'string' ? toolInput(inner) : undefined;
  return isObject(given) ? given : value;
}

/** A tool's output, without its client's wrapper. */
export function toolOutput(sent: JsonValue): JsonValue {
  const value = untyped(parsed(sent));
  if (typeof value === 'string') return (isPrinted(value) ? printedContent(value) : undefined) ?? value;
  const message = messageContent(value);
  if (message !== undefined) return toolOutput(message);
  if (Array.isArray(value))
    return value.length > 0 && value.every(isPart) ? (resultContent(value) ?? value) : value;
  if (!isObject(value)) return value;
  if ('output' in value && isObject(value.kwargs)) return toolOutput(value.output ?? null);
  // LlamaIndex.
  if ('raw_output' in value && 'tool_name' in value) return toolOutput(value.raw_output ?? null);
  const inner = onlyValue(value, 'output');
  if (inner !== undefined && isMessage(inner)) return toolOutput(inner);
  // Responses of MCP servers.
  if (Array.isArray(value.content) && value.content.every(isPart) && !isObject(value.structuredContent))
    return resultContent(value.content) ?? value;
  return value;
}

function onlyValue(object: JsonObject, key: string): JsonValue | undefined {
  return Object.keys(object).length === 1 ? object[key] : undefined;
}

/** The content of one message, or of a list of one. */
function messageContent(value: JsonValue): JsonValue | undefined {
  const only = Array.isArray(value) && value.length === 1 ? value[0] : value;
  if (only === undefined || !isMessage(only)) return undefined;
  const [message, ...more] = toMessages([only], null);
  return more.length === 0 && isObject(message) ? message.content : undefined;
}
