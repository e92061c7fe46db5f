import type { UsageFigure } from '../../../signal/usage-object.js';
import type { Convention } from '../conventions/convention.js';
import { cost, identity, inside, kindBy, seconds, text } from '../conventions/readers.js';
import { usageObject } from '../conventions/usage-readers.js';

const SPAN = 'braintrust.span_attributes';
const METADATA = 'braintrust.metadata';
const METRICS = 'braintrust.metrics';

const type = kindBy({
  LLM: 'llm',
  TOOL: 'tool',
  TASK: 'named root',
  FUNCTION: 'named root',
  EVAL: 'custom',
  SCORE: 'custom',
});

/** The attributes of Braintrust's span processors, as objects or JSON texts. */
export const BRAINTRUST: Convention = {
  fields: {
    kind: { [SPAN]: { rank: 14, read: inside(['type'], type) } },
    tool_name: { [SPAN]: { rank: 8, read: inside(['name'], text) } },
    model: { [METADATA]: { rank: 15, read: inside(['model'], text) } },
    provider: { [METADATA]: { rank: 9, read: inside(['provider'], text) } },
    session_id: {
      [METADATA]: { rank: 24, read: inside(['session_id', 'conversation_id', 'thread_id'], identity) },
    },
    user_id: { [METADATA]: { rank: 20, read: inside(['user_id'], identity) } },
    tags: { 'braintrust.tags': { rank: 11 } },
    input_tokens: ofMetrics('input', 13),
    output_tokens: ofMetrics('output', 13),
    total_tokens: ofMetrics('total', 13),
    cached_read: ofMetrics('cached_read', 28),
    cached_write: ofMetrics('cached_write', 28),
    reasoning: ofMetrics('reasoning', 28),
    audio_input: ofMetrics('audio_input', 28),
    audio_output: ofMetrics('audio_output', 28),
    first_chunk: { [METRICS]: { rank: 7, read: inside(['time_to_first_token'], seconds) } },
    cost: { [METRICS]: { rank: 18, read: inside(['estimated_cost', 'cost'], cost) } },
  },
};

function ofMetrics(figure: UsageFigure, rank: number) {
  return { [METRICS]: { rank, read: usageObject(figure) } };
}
