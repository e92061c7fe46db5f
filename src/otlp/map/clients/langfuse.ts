import type { Convention } from '../conventions/convention.js';
import { cost, count, inside, firstOf, kindBy, objectOf, only, within } from '../conventions/readers.js';

/** OpenAI's answers nest the parts; Langfuse's OpenAI client hands their `usage` on. */
const INPUT_DETAILS = ['prompt_tokens_details', 'input_tokens_details'];
const OUTPUT_DETAILS = ['completion_tokens_details', 'output_tokens_details'];

/** The Langfuse SDKs from version 3. */
export const LANGFUSE: Convention = {
  fields: {
    kind: {
      'langfuse.observation.type': {
        rank: 3,
        read: kindBy({
          GENERATION: 'llm',
          EMBEDDING: 'llm',
          AGENT: 'agent',
          TOOL: 'tool',
          RETRIEVER: 'retrieval',
          WORKFLOW: 'agent at the root',
          TASK: 'custom',
          CHAIN: 'chain',
          EVALUATOR: 'custom',
          GUARDRAIL: 'custom',
        }),
      },
    },
    is_failed: { 'langfuse.observation.level': { rank: 3, read: only('ERROR') } },
    langfuse_trace: { 'langfuse.trace.name': { rank: 1 } },
    model: { 'langfuse.observation.model.name': { rank: 8 } },
    session_id: {
      'langfuse.session.id': { rank: 6 },
      'langfuse.trace.metadata.langfuse_session_id': { rank: 8 },
    },
    user_id: { 'langfuse.user.id': { rank: 5 }, 'langfuse.trace.metadata.langfuse_user_id': { rank: 10 } },
    tags: { 'langfuse.trace.tags': { rank: 4 }, 'langfuse.tags': { rank: 5 } },
    langfuse_prompt_name: { 'langfuse.observation.prompt.name': { rank: 1 } },
    langfuse_prompt_version: { 'langfuse.observation.prompt.version': { rank: 1 } },
    status_message: { 'langfuse.observation.status_message': { rank: 1 } },
    input_tokens: {
      'langfuse.observation.usage_details': {
        rank: 8,
        read: inside(['input', 'input_tokens', 'prompt_tokens'], count),
      },
    },
    output_tokens: {
      'langfuse.observation.usage_details': {
        rank: 8,
        read: inside(['output', 'output_tokens', 'completion_tokens'], count),
      },
    },
    total_tokens: {
      'langfuse.observation.usage_details': { rank: 5, read: inside(['total', 'total_tokens'], count) },
    },
    cache_read: {
      'langfuse.observation.usage_details': {
        rank: 8,
        read: firstOf(
          inside(['cache_read_input_tokens', 'input_cached_tokens', 'input_cache_read'], count),
          within(INPUT_DETAILS, inside(['cached_tokens'], count)),
        ),
      },
    },
    cache_creation: {
      'langfuse.observation.usage_details': {
        rank: 8,
        read: inside(['cache_creation_input_tokens', 'input_cache_creation'], count),
      },
    },
    reasoning: {
      'langfuse.observation.usage_details': {
        rank: 8,
        read: firstOf(
          inside(['reasoning_tokens', 'output_reasoning_tokens', 'output_reasoning'], count),
          within(OUTPUT_DETAILS, inside(['reasoning_tokens'], count)),
        ),
      },
    },
    cost: {
      'langfuse.observation.cost_details': {
        rank: 5,
        read: (value) => inside(['total'], cost)(value) ?? sumOfCosts(value),
      },
    },
    input: { 'langfuse.observation.input': { rank: 30 } },
    output: { 'langfuse.observation.output': { rank: 30 } },
    parameters: { 'langfuse.observation.model.parameters': { rank: 5 } },
  },
};

/** Where there is no total: the costs of input, output and their parts, which Langfuse keeps apart from each other. */
function sumOfCosts(value: Parameters<typeof objectOf>[0]): number | undefined {
  const parts = Object.values(objectOf(value) ?? {})
    .map(cost)
    .filter((part) => typeof part === 'number');
  return parts.length === 0 ? undefined : parts.reduce((sum, part) => sum + part, 0);
}
