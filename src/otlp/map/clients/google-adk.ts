import type { Convention } from '../conventions/convention.js';
import { only, within } from '../conventions/readers.js';
import { usageObject } from '../conventions/usage-readers.js';

const USAGE = ['usage_metadata', 'usageMetadata'];

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
    // The responses of parallel calls in one event, each of which has a span of its own.
    is_step: { 'gen_ai.tool.name': { rank: 1, read: only('(merged tools)') } },
    session_id: { 'gcp.vertex.agent.session_id': { rank: 7 } },
    // ADK itself counts the answer without its thoughts.
    output_tokens: {
      'gcp.vertex.agent.llm_response': { rank: 0, read: within(USAGE, usageObject('output')) },
    },
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
