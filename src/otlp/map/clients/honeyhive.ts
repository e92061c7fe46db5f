import type { Convention } from '../conventions/convention.js';
import { kindBy } from '../conventions/readers.js';

/** HoneyHive: inputs and outputs of functions by their names. */
export const HONEYHIVE: Convention = {
  fields: {
    kind: {
      honeyhive_event_type: {
        rank: 22,
        read: kindBy({ MODEL: 'llm', TOOL: 'tool', CHAIN: 'chain', SESSION: 'named root' }),
      },
    },
    status_message: { honeyhive_error: { rank: 4 } },
    output: { 'honeyhive_outputs.result': { rank: 35 } },
    result: { 'honeyhive_outputs.result': { rank: 46 } },
  },
  prefixes: {
    input: { 'honeyhive_inputs.': { rank: 35, isNamed: true } },
    output: { 'honeyhive_outputs.': { rank: 36, isNamed: true } },
  },
};
