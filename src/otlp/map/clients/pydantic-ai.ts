import type { JsonValue } from '../../../signal/attributes.js';
import { isObject, parseStructure } from '../json-text.js';
import type { Convention, Reader } from '../conventions/convention.js';
import { CHOICE_EVENT } from '../../../signal/logged-event.js';
import { only, texts } from '../conventions/readers.js';
import { usageObject } from '../conventions/usage-readers.js';

const ANSWERS: ReadonlySet<JsonValue | undefined> = new Set(['assistant', 'model']);

/** The messages of a conversation before the answer, or the answer: the last output of the model. */
function partOfConversation(part: 'question' | 'answer'): Reader {
  return (value) => {
    const messages = listOf(value);
    const last = messages.findLastIndex((message) => !isObject(message) || !ANSWERS.has(message.role));
    return nonEmpty(part === 'question' ? messages.slice(0, last + 1) : messages.slice(last + 1));
  };
}

/** The messages of a list of events in an attribute: the choices are the answer, or without choices the last message of the assistant. */
function partOfEvents(part: 'question' | 'answer'): Reader {
  const ofConversation = partOfConversation(part);
  return (value) => {
    const events = listOf(value);
    if (!events.some(isChoice)) return ofConversation(events);
    return nonEmpty(events.filter((event) => isChoice(event) === (part === 'answer')));
  };
}

function isChoice(event: JsonValue): boolean {
  return isObject(event) && event['event.name'] === CHOICE_EVENT;
}

function listOf(value: JsonValue): JsonValue[] {
  const parsed = typeof value === 'string' ? parseStructure(value) : value;
  return Array.isArray(parsed) ? parsed : [];
}

function nonEmpty(list: JsonValue[]): JsonValue[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** The provider's usage. */
const USAGE = 'gen_ai.usage.raw';

const question = partOfConversation('question');
const answer = partOfConversation('answer');

/** Logfire tags each model call itself. */
const OWN_TAG = 'LLM';

function ofProgram(value: JsonValue): JsonValue | undefined {
  const tags = texts(value);
  return Array.isArray(tags) ? nonEmpty(tags.filter((tag) => tag !== OWN_TAG)) : undefined;
}

/** Pydantic AI and Logfire, for attributes beyond the GenAI conventions. */
export const PYDANTIC_AI: Convention = {
  fields: {
    spoken_name: { 'logfire.msg': { rank: 1 } },
    is_pending: { 'logfire.span_type': { rank: 1, read: only('pending_span') } },
    is_agent: { agent_name: { rank: 1 } },
    agent: { agent_name: { rank: 2 } },
    cached_read: { [USAGE]: { rank: 25, read: usageObject('cached_read') } },
    cached_write: { [USAGE]: { rank: 25, read: usageObject('cached_write') } },
    cached_write_5m: { [USAGE]: { rank: 25, read: usageObject('cached_write_5m') } },
    cached_write_1h: { [USAGE]: { rank: 25, read: usageObject('cached_write_1h') } },
    reasoning: { [USAGE]: { rank: 25, read: usageObject('reasoning') } },
    audio_input: { [USAGE]: { rank: 25, read: usageObject('audio_input') } },
    audio_output: { [USAGE]: { rank: 25, read: usageObject('audio_output') } },
    cost: { 'operation.cost': { rank: 6 } },
    tags: { 'logfire.tags': { rank: 6, read: ofProgram } },
    input: {
      'pydantic_ai.all_messages': { rank: 12, read: question, shape: 'messages' },
      all_messages_events: { rank: 13, read: question, shape: 'messages' },
      events: { rank: 14, read: partOfEvents('question'), shape: 'messages' },
    },
    output: {
      'pydantic_ai.all_messages': { rank: 12, read: answer, shape: 'messages' },
      all_messages_events: { rank: 13, read: answer, shape: 'messages' },
      events: { rank: 14, read: partOfEvents('answer'), shape: 'messages' },
      final_result: { rank: 15 },
    },
    arguments: { tool_arguments: { rank: 3 } },
    result: { tool_response: { rank: 3 } },
    parameters: { model_request_parameters: { rank: 4 } },
  },
  agentNames: { generic: ['agent run'] },
};
