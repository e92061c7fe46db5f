import { itemsOf, member, textOf, tryParseJson, type Json } from '../json/parse.js';
import type { Part } from './message.js';

/**
 * The parts of message content in the formats of OpenAI, Anthropic, Gemini, Vercel AI SDK and OpenTelemetry
 * GenAI.
 */
export function partsOfContent(content: Json | undefined): readonly Part[] {
  if (content === undefined || (content.kind === 'literal' && content.value === null)) return [];
  if (content.kind === 'string') return content.text === '' ? [] : [{ kind: 'text', text: content.text }];
  const items = itemsOf(content);
  if (items) return items.flatMap((item) => (item.kind === 'string' ? partsOfContent(item) : [partOf(item)]));
  return content.kind === 'object' ? [partOf(content)] : [{ kind: 'unknown', value: content }];
}

/** A tool call as OpenAI, LangChain and the daemon write it next to the content. */
export function callOf(value: Json): Part {
  const inner = member(value, 'function') ?? member(value, 'functionCall') ?? value;
  const name = textOf(inner, 'name') ?? textOf(inner, 'toolName');
  if (name === undefined) return { kind: 'unknown', value };
  const input = member(inner, 'arguments') ?? member(inner, 'args') ?? member(inner, 'input');
  return {
    kind: 'call',
    id: textOf(value, 'call_id') ?? textOf(value, 'id') ?? textOf(value, 'toolCallId'),
    name,
    input: parsed(input),
  };
}

/** Parses arguments that arrive as JSON text. */
export function parsed(value: Json | undefined): Json | undefined {
  return value?.kind === 'string' && /^\s*[{[]/.test(value.text)
    ? (tryParseJson(value.text) ?? value)
    : value;
}

function partOf(value: Json): Part {
  const type = textOf(value, 'type') ?? '';
  switch (type.replaceAll('-', '_')) {
    case 'text':
    case 'input_text':
    case 'output_text':
    case 'refusal':
      return textPart(value);
    case 'reasoning':
    case 'thinking':
    case 'redacted_thinking':
      return reasoningPart(value);
    case 'tool_call':
    case 'tool_use':
    case 'server_tool_use':
    case 'function_call':
    case 'function':
      return callOf(value);
    case 'tool_result':
    case 'tool_call_response':
    case 'function_call_output':
    case 'web_search_tool_result':
      return resultPart(value);
    case 'image':
    case 'image_url':
    case 'input_image':
    case 'audio':
    case 'input_audio':
    case 'document':
    case 'file':
    case 'input_file':
    case 'video':
    case 'blob':
    case 'uri':
    case 'media':
      return mediaPart(value, type);
    default:
      return geminiPart(value) ?? { kind: 'unknown', value };
  }
}

function textPart(value: Json): Part {
  const text = textOf(value, 'text') ?? textOf(value, 'content') ?? textOf(value, 'refusal');
  return text === undefined ? { kind: 'unknown', value } : { kind: 'text', text };
}

function reasoningPart(value: Json): Part {
  const summaries = itemsOf(member(value, 'summary')) ?? itemsOf(member(value, 'content'));
  const text =
    textOf(value, 'text') ??
    textOf(value, 'thinking') ??
    textOf(value, 'content') ??
    summaries?.map((item) => textOf(item, 'text') ?? '').join('\n\n');
  return text === undefined || text === '' ? { kind: 'unknown', value } : { kind: 'reasoning', text };
}

function resultPart(value: Json): Part {
  const names = ['content', 'output', 'result', 'response'];
  const isError = member(value, 'is_error') ?? member(value, 'isError');
  return {
    kind: 'result',
    id:
      textOf(value, 'tool_use_id') ??
      textOf(value, 'call_id') ??
      textOf(value, 'toolCallId') ??
      textOf(value, 'id'),
    name: textOf(value, 'name') ?? textOf(value, 'toolName'),
    output: parsed(unwrapped(names.map((name) => member(value, name)).find((each) => each !== undefined))),
    isError: isError?.kind === 'literal' && isError.value === true,
  };
}

/** Unwraps `[{type: text, text}]` and `{type: text, value}`. */
function unwrapped(value: Json | undefined): Json | undefined {
  const items = itemsOf(value);
  const only = items?.length === 1 ? items[0] : undefined;
  if (only && textOf(only, 'type') === 'text') return member(only, 'text') ?? value;
  const type = textOf(value, 'type');
  return type === 'text' || type === 'json' ? (member(value, 'value') ?? value) : value;
}

function mediaPart(value: Json, type: string): Part {
  const url =
    member(value, 'image_url') ??
    member(value, 'source') ??
    member(value, 'input_audio') ??
    member(value, 'file');
  const source =
    textOf(url) ??
    textOf(url, 'url') ??
    textOf(value, 'uri') ??
    textOf(value, 'url') ??
    textOf(value, 'image') ??
    textOf(url, 'file_data') ??
    textOf(value, 'file_data') ??
    textOf(value, 'file_id');
  const [, dataType, data] = DATA_URL.exec(source ?? '') ?? [];
  const format = textOf(url, 'format');
  const mime =
    textOf(value, 'mime_type') ??
    textOf(value, 'mediaType') ??
    textOf(value, 'mimeType') ??
    textOf(url, 'media_type') ??
    (format === undefined ? undefined : `audio/${format}`) ??
    (dataType === '' ? undefined : dataType);
  const modality = textOf(value, 'modality');
  const named = /image/.test(type)
    ? 'image'
    : /audio/.test(type)
      ? 'audio'
      : type === 'video'
        ? 'video'
        : kindOf(mime);
  return {
    kind: 'media',
    what: modality ?? named,
    type: mime,
    // The data of an embedded image is long and unreadable.
    source: data === undefined ? source : undefined,
    data:
      data ??
      textOf(url, 'data') ??
      textOf(value, 'data') ??
      (type === 'blob' ? textOf(value, 'content') : undefined),
  };
}

/** The start of a `data:` URL with base64. The rest is the data. */
const DATA_URL = /^data:([^;,]*)(?:;[^;,]*)*;base64,(.*)$/s;

/** `image` for `image/png`. */
function kindOf(mime: string | undefined): string {
  const [kind = ''] = mime?.split('/') ?? [];
  return ['image', 'audio', 'video'].includes(kind) ? kind : 'file';
}

/** Gemini parts have a member instead of a type. */
function geminiPart(value: Json): Part | undefined {
  const text = textOf(value, 'text');
  if (text !== undefined) {
    const thought = member(value, 'thought');
    return { kind: thought?.kind === 'literal' && thought.value === true ? 'reasoning' : 'text', text };
  }
  const call = member(value, 'functionCall') ?? member(value, 'function_call');
  if (call) return callOf(call);
  const answer = member(value, 'functionResponse') ?? member(value, 'function_response');
  if (answer) return resultPart(answer);
  const data =
    member(value, 'inlineData') ??
    member(value, 'inline_data') ??
    member(value, 'fileData') ??
    member(value, 'file_data');
  if (data === undefined) return undefined;
  const type = textOf(data, 'mimeType') ?? textOf(data, 'mime_type');
  return {
    kind: 'media',
    what: kindOf(type),
    type,
    source: textOf(data, 'fileUri') ?? textOf(data, 'file_uri'),
    data: textOf(data, 'data'),
  };
}
