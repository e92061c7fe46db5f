import type { Convention } from '../conventions/convention.js';
import { only, seconds } from '../conventions/readers.js';

/** LiveKit Agents. Nodes and attempts repeat the model of the request above or below them; all sessions have the same name. */
export const LIVEKIT: Convention = {
  spanNames: {
    scope: 'livekit-agents',
    kinds: { '*_node': 'custom', '*_request_run': 'custom' },
  },
  fields: {
    first_chunk: {
      'lk.response.ttft': { rank: 4, read: seconds },
      'lk.response.ttfb': { rank: 5, read: seconds },
    },
    agent: { 'lk.agent_label': { rank: 7 } },
    is_failed: { 'lk.function_tool.is_error': { rank: 6, read: only(true) } },
    input: { 'lk.pii.user_input': { rank: 33 }, 'lk.user_input': { rank: 34 } },
    output: { 'lk.pii.response.text': { rank: 33 }, 'lk.response.text': { rank: 34 } },
    arguments: { 'lk.pii.function_tool.arguments': { rank: 21 }, 'lk.function_tool.arguments': { rank: 22 } },
    result: { 'lk.pii.function_tool.output': { rank: 21 }, 'lk.function_tool.output': { rank: 22 } },
    tool_name: { 'lk.function_tool.name': { rank: 9 } },
  },
  agentNames: { generic: ['agent_session', 'agent_turn', 'job_entrypoint'] },
};
