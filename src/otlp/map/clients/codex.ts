import type { Convention } from '../conventions/convention.js';
import { present } from '../conventions/readers.js';

/**
 * Codex CLI: it traces its own functions, and most traces have none of an agent. A turn is one span with the tokens of its requests
 * and the only one that knows the model.
 */
export const CODEX: Convention = {
  fields: {
    is_model: {
      'codex.turn.token_usage.total_tokens': { rank: 40, read: present },
      // An interrupted turn has no tokens.
      'codex.turn.reasoning_effort': { rank: 41, read: present },
    },
    // The response of a request of the turn.
    repeats_usage: { 'codex.usage.total_tokens': { rank: 40 } },
    session_id: { 'conversation.id': { rank: 40 } },
    input_tokens: { 'codex.turn.token_usage.input_tokens': { rank: 40 } },
    output_tokens: { 'codex.turn.token_usage.output_tokens': { rank: 40 } },
    total_tokens: { 'codex.turn.token_usage.total_tokens': { rank: 40 } },
    cached_read: { 'codex.turn.token_usage.cached_input_tokens': { rank: 40 } },
    cached_write: { 'codex.turn.token_usage.cache_write_input_tokens': { rank: 40 } },
    reasoning: { 'codex.turn.token_usage.reasoning_output_tokens': { rank: 40 } },
  },
  programEvents: {
    prefix: 'codex.',
    programs: [],
    // Spans of tools have neither arguments nor results.
    onlyEvents: ['prompt', 'tool'],
    decision: 'tool_decision',
    kinds: {
      user_prompt: 'prompt',
      // Requests report failures; the last event of a stream has the tokens.
      api_request: 'call',
      sse_event: 'call',
      websocket_event: 'call',
      tool_result: 'tool',
    },
  },
  programScopes: ['codex*'],
  stepScopes: ['codex*'],
};
