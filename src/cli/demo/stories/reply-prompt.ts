import { PROMPTED_AGENT, promptVersionAt } from '../conditions.js';
import type { RunBody } from '../body.js';

/** The prompt by which {@link PROMPTED_AGENT} answers. */
export const REPLY_PROMPT = 'support-reply';
/** The span that was made by it. */
export const REPLY_SPAN = 'draft reply';

interface PromptVersion {
  readonly template_text: string;
  readonly description: string;
}

/** Its versions, the first one first. */
export const REPLY_VERSIONS: readonly PromptVersion[] = [
  {
    template_text:
      'You are the first line of a customer support team. Answer politely, in the language of the customer, and only from the knowledge articles and the order data given to you.\n\nNever promise a refund above 200.00 without approval.\n\nIf the customer asks for a person, or if you are less than 70 % sure, hand over with a summary of at most three sentences.',
    description: 'As it went live.',
  },
  {
    template_text:
      'You are the first line of a customer support team. Answer politely, in the language of the customer, and only from the knowledge articles and the order data given to you.\n\nName the order and the next step in the first sentence.\n\nNever promise a refund above 200.00 without approval.\n\nIf the customer asks for a person, or if you are less than 70 % sure, hand over with a summary of at most three sentences.',
    description: 'Says what happens next at once.',
  },
  {
    template_text:
      'You are a warm and thorough member of a customer support team. Answer in the language of the customer, and explain at length what may have happened and which possibilities there are.\n\nName the order and the next step in the first sentence.\n\nNever promise a refund above 200.00 without approval.\n\nIf the customer asks for a person, hand over with a summary.',
    description: 'Friendlier. Fewer tickets are solved by it, and its answers are longer: taken back.',
  },
];

/** What the system message of a call at a moment says. */
export function replyPromptAt(timeMs: number): string {
  return REPLY_VERSIONS[promptVersionAt(timeMs) - 1]?.template_text ?? '';
}

/** How many times as long the answers of a version are. */
export function replyLengthAt(timeMs: number): number {
  return promptVersionAt(timeMs) === REPLY_VERSIONS.length ? 3 : 1;
}

/** Which version of the prompt a run was made by, as `POST /dashboard/prompts/usage` wants it; undefined for other runs. */
export function promptUsage({ trace, spans }: RunBody) {
  if (trace.agent !== PROMPTED_AGENT) return undefined;
  const span = spans.find(({ name, output_tokens }) => name === REPLY_SPAN && output_tokens !== undefined);
  if (span === undefined) return undefined;
  const prompt_version = promptVersionAt(Date.parse(trace.started_at));
  return { prompt_name: REPLY_PROMPT, prompt_version, trace_id: trace.trace_id, span_id: span.span_id };
}
