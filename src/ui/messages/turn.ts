import { itemsOf, member, textOf, type Json } from '../json/parse.js';
import { readConversation } from './conversation.js';
import { lastQuestion } from './history.js';
import type { Conversation, Message } from './message.js';

/** A span as far as the selection needs it, in order of start. */
interface Candidate {
  readonly span_id: string;
  readonly parent_span_id: string | null;
  readonly type: string;
  readonly input_bytes: number | null;
  readonly output_bytes: number | null;
}

/** The spans with input and output of a run: the root, or else the first and last model call. */
export function conversationSpans(spans: readonly Candidate[]): {
  readonly asked: string | undefined;
  readonly answered: string | undefined;
} {
  const root = spans.find(({ parent_span_id: parent }) => parent === null);
  if (root && root.input_bytes !== null && root.output_bytes !== null)
    return { asked: root.span_id, answered: root.span_id };
  const calls = spans.filter(({ type }) => type === 'llm');
  const asked = [root, ...calls].find((span) => span !== undefined && span.input_bytes !== null);
  const answered = [root, ...calls.toReversed()].find(
    (span) => span !== undefined && span.output_bytes !== null,
  );
  return { asked: asked?.span_id, answered: answered?.span_id };
}

/** A run's part of its conversation: the last question without earlier history, and the answer. */
export function turnOf(asked: Json | undefined, answered: Json | undefined): Conversation | undefined {
  const question = spokenIn(asked, 'input');
  const answer = spokenIn(answered, 'output');
  const messages = [...question.slice(lastQuestion(question)), ...answer];
  return messages.length === 0 ? undefined : { messages, rest: [] };
}

/** Members that contain what was said, if there is only one of them. */
const SAID = new Set([
  ...['question', 'query', 'prompt', 'task', 'input', 'message', 'request', 'text', 'content', 'q', 'args'],
  ...['answer', 'reply', 'response', 'output', 'result', 'completion', 'value'],
]);

/** The messages on one side of a span. A payload with a single text, such as `{"question": …}`, is one message. */
export function spokenIn(detail: Json | undefined, side: 'input' | 'output'): readonly Message[] {
  const value = member(detail, `${side}_data`);
  if (value === undefined) return [];
  const read = readConversation(value, side)?.messages;
  if (read) return read;
  const texts = textsIn(value).filter(([key]) => SAID.has(key));
  const [only] = texts;
  const hasMore =
    value.kind === 'object' && value.entries.some(([key, each]) => key !== only?.[0] && jsonSize(each) > 0);
  return texts.length !== 1 || only === undefined || hasMore ? [] : [messageOf(only[1], side)];
}

/** What one side of a span contributes to a conversation, to find it again in model calls: messages, or all texts. */
export function textsOnSide(detail: Json | undefined, side: 'input' | 'output'): readonly Message[] {
  const spoken = spokenIn(detail, side);
  if (spoken.length > 0) return spoken;
  return textsIn(member(detail, `${side}_data`)).map(([, text]) => messageOf(text, side));
}

/** Members of an object or items of an array. */
function jsonSize(value: Json): number {
  return value.kind === 'object' ? value.entries.length : (itemsOf(value)?.length ?? 0);
}

function textsIn(value: Json | undefined): readonly (readonly [string, string])[] {
  if (value?.kind !== 'object') return [];
  return value.entries.flatMap(([key, each]) => {
    // The arguments of a function are a list, often of one.
    const items = itemsOf(each);
    const text = textOf(items?.length === 1 ? items[0] : each);
    return text === undefined || text === '' ? [] : [[key, text] as const];
  });
}

function messageOf(text: string, side: 'input' | 'output'): Message {
  return {
    role: side === 'input' ? 'user' : 'assistant',
    name: undefined,
    parts: [{ kind: 'text', text }],
  };
}
