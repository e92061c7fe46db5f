import type { JsonValue } from '../../../signal/attributes.js';
import type { Convention, Reader } from '../conventions/convention.js';
import { kindBy, text } from '../conventions/readers.js';

/** The scope of Claude Code's spans. */
const SPANS = 'com.anthropic.claude_code.tracing';

/** The argument of a tool, if the span has only this one. */
function argument(name: string): Reader {
  return (value): JsonValue | undefined => {
    const read = text(value);
    return read === undefined ? undefined : { [name]: read };
  };
}

/** Claude Code: spans whose attributes have plain names. It counts cached tokens in addition to the input, as Anthropic does. */
export const CLAUDE_CODE: Convention = {
  fields: {
    kind: {
      'span.type': {
        rank: 24,
        read: kindBy({
          INTERACTION: 'agent',
          LLM_REQUEST: 'llm',
          TOOL: 'tool',
          // Steps of a tool, which repeat its ids.
          'TOOL.EXECUTION': 'custom',
          'TOOL.BLOCKED_ON_USER': 'custom',
          HOOK: 'custom',
          // Other clients' keys.
          LLM: 'llm',
          AGENT: 'agent',
          MEMORY: 'custom',
        }),
      },
    },
    // The id is a hash of the installation.
    user_email: { 'user.email': { rank: 1 } },
    tool_name: { tool_name: { rank: 45 } },
    model: { model: { rank: 45 } },
    input_tokens: { input_tokens: { rank: 45 } },
    output_tokens: { output_tokens: { rank: 45 } },
    cached_read: { cache_read_tokens: { rank: 45 } },
    cached_write: { cache_creation_tokens: { rank: 45 } },
    cost: { cost_usd: { rank: 45 } },
    finish_reasons: { stop_reason: { rank: 45 } },
    first_chunk: { ttft_ms: { rank: 45 } },
    input: { user_prompt: { rank: 45, shape: 'prompt', read: (value) => promptOf(value) } },
    arguments: {
      tool_input: { rank: 45 },
      full_command: { rank: 46, read: argument('command') },
      file_path: { rank: 47, read: argument('file_path') },
    },
  },
  separateCaches: [SPANS],
  programEvents: {
    prefix: 'claude_code.',
    programs: ['com.anthropic.claude_code.events', 'claude-code'],
    decision: 'tool_decision',
    kinds: {
      user_prompt: 'prompt',
      api_request: 'call',
      api_error: 'call',
      assistant_response: 'answer',
      tool_result: 'tool',
    },
    separateCaches: true,
  },
  wrapperScopes: [SPANS],
  lastCalls: [SPANS],
  failedParts: { scope: SPANS, names: ['claude_code.tool.execution'] },
  agentNames: { generic: ['claude_code.interaction'] },
};

function promptOf(value: JsonValue): JsonValue | undefined {
  const prompt = text(value);
  return prompt === undefined || prompt === REDACTED ? undefined : { prompt };
}

/** Replaces the prompt unless `OTEL_LOG_USER_PROMPTS` is set. */
const REDACTED = '<REDACTED>';
