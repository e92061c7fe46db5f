import type { Convention, Reader } from '../conventions/convention.js';
import { kindBy } from '../conventions/readers.js';

const USAGE_KIND = 'ag2.usage.kind';
/** Usage that another span also reports: the previous model call, or the agent that ran as a tool. */
const REPEATED: ReadonlySet<unknown> = new Set(['model_call', 'subtask']);
const repeated: Reader = (value) => (REPEATED.has(value) ? true : undefined);

/** AG2, which follows OpenTelemetry's conventions and adds a span for each record of usage. */
export const AG2: Convention = {
  fields: {
    kind: { [USAGE_KIND]: { rank: 101, read: kindBy({ MODEL_CALL: 'custom', SUBTASK: 'custom' }) } },
    repeats_usage: { [USAGE_KIND]: { rank: 1, read: repeated } },
    reasoning: { 'gen_ai.usage.thinking_tokens': { rank: 101 } },
    total_tokens: { 'ag2.usage.total_tokens': { rank: 101 } },
  },
};
