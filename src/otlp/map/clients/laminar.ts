import type { Convention } from '../conventions/convention.js';
import { kindBy } from '../conventions/readers.js';

/**
 * Laminar for Python and JavaScript. Its roots are named by the program, its service is a constant, and a failed function has an
 * exception without a status. Calls of models come from OpenLLMetry's instrumentations.
 */
export const LAMINAR: Convention = {
  spanNames: { scope: 'lmnr.tracer', kinds: { '*': 'named root' } },
  failedByException: ['lmnr.tracer'],
  fields: {
    kind: {
      'lmnr.span.type': {
        rank: 6,
        read: kindBy({
          LLM: 'llm',
          CACHED: 'llm',
          TOOL: 'tool',
          DEFAULT: 'named root',
          EVALUATION: 'custom',
          EXECUTOR: 'custom',
          EVALUATOR: 'custom',
          HUMAN_EVALUATOR: 'custom',
        }),
      },
    },
    session_id: { 'lmnr.association.properties.session_id': { rank: 4 } },
    user_id: { 'lmnr.association.properties.user_id': { rank: 3 } },
    tags: { 'lmnr.association.properties.tags': { rank: 2 } },
    input: { 'lmnr.span.input': { rank: 16 } },
    output: { 'lmnr.span.output': { rank: 16 } },
  },
  sdkVersions: ['laminar-tracer-resource'],
  agentNames: { services: ['laminar-tracer-resource'] },
};
