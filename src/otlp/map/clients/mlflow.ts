import type { Convention, Reader } from '../conventions/convention.js';
import { unquoted } from '../messages/texts.js';
import { cost, inside, kindBy, text } from '../conventions/readers.js';
import { usageObject } from '../conventions/usage-readers.js';

const USAGE = 'mlflow.chat.tokenUsage';
const COST = 'mlflow.llm.cost';

const jsonText: Reader = (value) => text(typeof value === 'string' ? unquoted(value) : value);

/** MLflow's tracing. Its values are JSON texts. */
export const MLFLOW: Convention = {
  chunkEvents: ['mlflow.chunk.item.0'],
  fields: {
    kind: {
      'mlflow.spanType': {
        rank: 10,
        read: (value) => spanType(jsonText(value) ?? null),
      },
    },
    model: { 'mlflow.llm.model': { rank: 16, read: jsonText }, model: { rank: 17, read: jsonText } },
    provider: { 'mlflow.llm.provider': { rank: 10, read: jsonText } },
    input_tokens: { [USAGE]: { rank: 10, read: usageObject('input') } },
    output_tokens: { [USAGE]: { rank: 10, read: usageObject('output') } },
    total_tokens: { [USAGE]: { rank: 10, read: usageObject('total') } },
    cached_read: { [USAGE]: { rank: 24, read: usageObject('cached_read') } },
    cached_write: { [USAGE]: { rank: 24, read: usageObject('cached_write') } },
    cached_write_5m: { [USAGE]: { rank: 24, read: usageObject('cached_write_5m') } },
    cached_write_1h: { [USAGE]: { rank: 24, read: usageObject('cached_write_1h') } },
    reasoning: { [USAGE]: { rank: 24, read: usageObject('reasoning') } },
    cost: { [COST]: { rank: 13, read: inside(['total_cost'], cost) } },
    cost_input: { [COST]: { rank: 6, read: inside(['input_cost'], cost) } },
    cost_output: { [COST]: { rank: 6, read: inside(['output_cost'], cost) } },
    session_id: { 'mlflow.trace.session': { rank: 18 } },
    user_id: { 'mlflow.trace.user': { rank: 17 } },
    input: { 'mlflow.spanInputs': { rank: 22 } },
    output: { 'mlflow.spanOutputs': { rank: 22 } },
  },
};

const spanType = kindBy({
  AGENT: 'agent',
  CHAT_MODEL: 'llm',
  LLM: 'llm',
  EMBEDDING: 'llm',
  TOOL: 'tool',
  RETRIEVER: 'retrieval',
  CHAIN: 'chain',
});
