import type { Convention } from './convention.js';

/** Google's Agent Development Kit, in what it has beside the GenAI conventions. */
export const GOOGLE_ADK: Convention = {
  fields: {
    session_id: { 'gcp.vertex.agent.session_id': { rank: 7 } },
    input: { 'gcp.vertex.agent.llm_request': { rank: 21 } },
    output: { 'gcp.vertex.agent.llm_response': { rank: 21 } },
    arguments: { 'gcp.vertex.agent.tool_call_args': { rank: 4 } },
    result: { 'gcp.vertex.agent.tool_response': { rank: 4 } },
  },
};
