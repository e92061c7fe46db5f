import type { JsonValue } from '../../../signal/attributes.js';
import type { Convention, Reader } from '../conventions/convention.js';
import { count, inside, objectOf, within } from '../conventions/readers.js';
import { usageObject } from '../conventions/usage-readers.js';

const USAGE = ['usage_metadata', 'usageMetadata'];

/** Gemini counts thinking tokens separately from the output, all other providers within it. */
const output: Reader = (value) => {
  const usage = usageOf(value);
  const answer = countIn(usage, ['candidates_token_count', 'candidatesTokenCount']);
  const thoughts = countIn(usage, ['thoughts_token_count', 'thoughtsTokenCount']);
  return answer === undefined || thoughts === undefined ? undefined : answer + thoughts;
};

/** Google's Agent Development Kit, for attributes beyond the GenAI conventions. */
export const GOOGLE_ADK: Convention = {
  spanNames: {
    scope: 'gcp.vertex.agent',
    kinds: {
      invocation: 'root span is an agent',
      'invocation [*]': 'root span is an agent',
      'agent_run [*]': 'agent',
      // A call that failed has no attributes.
      call_llm: 'llm',
      'execute_tool *': 'tool',
    },
  },
  fields: {
    session_id: { 'gcp.vertex.agent.session_id': { rank: 7 } },
    output_tokens: { 'gcp.vertex.agent.llm_response': { rank: 0, read: output } },
    cached_read: {
      'gcp.vertex.agent.llm_response': { rank: 13, read: within(USAGE, usageObject('cached_read')) },
    },
    reasoning: {
      'gcp.vertex.agent.llm_response': { rank: 13, read: within(USAGE, usageObject('reasoning')) },
    },
    input: { 'gcp.vertex.agent.llm_request': { rank: 21 } },
    output: { 'gcp.vertex.agent.llm_response': { rank: 21 } },
    arguments: { 'gcp.vertex.agent.tool_call_args': { rank: 4 } },
    result: { 'gcp.vertex.agent.tool_response': { rank: 4 } },
  },
  agentNames: { around: ['agent_run [*]', 'invocation [*]'], generic: ['invocation'] },
};

function usageOf(value: JsonValue): JsonValue {
  return within(USAGE, (usage) => objectOf(usage))(value) ?? null;
}

function countIn(usage: JsonValue, names: readonly string[]): number | undefined {
  const found = inside(names, count)(usage);
  return typeof found === 'number' ? found : undefined;
}
