import { member, type Json } from '../../json/parse.js';
import { readConversation } from '../../messages/conversation.js';
import type { Conversation, Message } from '../../messages/message.js';

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
  const question = spoken(asked, 'input');
  const from = question.findLastIndex(({ role }) => role === 'user');
  const answer = spoken(answered, 'output');
  const messages = [...question.slice(Math.max(0, from)), ...answer];
  return messages.length === 0 ? undefined : { messages, rest: [] };
}

function spoken(detail: Json | undefined, side: 'input' | 'output'): readonly Message[] {
  const value = member(detail, `${side}_data`);
  return (value === undefined ? undefined : readConversation(value, side))?.messages ?? [];
}
