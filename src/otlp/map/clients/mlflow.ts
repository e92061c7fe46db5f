import type { Convention } from '../conventions/convention.js';
import { kindBy } from '../conventions/readers.js';

/** MLflow's tracing. Its values are JSON texts. */
export const MLFLOW: Convention = {
  fields: {
    kind: {
      'mlflow.spanType': {
        rank: 10,
        read: (value) => spanType(typeof value === 'string' ? value.replaceAll('"', '') : value),
      },
    },
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
