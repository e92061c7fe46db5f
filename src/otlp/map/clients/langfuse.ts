import type { JsonObject } from '../../../signal/attributes.js';
import type { Convention, Reader } from '../conventions/convention.js';
import { cost, count, inside, firstOf, kindBy, objectOf, only, text } from '../conventions/readers.js';
import { usageObject } from '../conventions/usage-readers.js';
import { unquoted } from '../messages/texts.js';

const USAGE = 'langfuse.observation.usage_details';
const COST = 'langfuse.observation.cost_details';

/** Langfuse's own names, which are disjoint: `input`, `input_cached_tokens`, `cache_read_input_tokens`, `output_reasoning` … */
const isOfInput = (name: string): boolean =>
  name === 'input' || name.startsWith('input_') || /^cache_.*_input_tokens$/.test(name);
const isOfOutput = (name: string): boolean => name === 'output' || name.startsWith('output_');

/**
 * Langfuse's own names are disjoint and are added up. OpenAI's names, passed on by Langfuse's OpenAI client, include their parts.
 */
const inputTokens = firstOf(sumWith('input', isOfInput, count), usageObject('input'));
const outputTokens = firstOf(sumWith('output', isOfOutput, count), usageObject('output'));

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
          WORKFLOW: 'root span is an agent',
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
    service_tier: {
      'langfuse.observation.model.parameters': {
        rank: 32,
        read: inside(['service_tier', 'serviceTier'], text),
      },
    },
    session_id: {
      'langfuse.session.id': { rank: 6 },
      'langfuse.trace.metadata.langfuse_session_id': { rank: 8 },
    },
    user_id: { 'langfuse.user.id': { rank: 5 }, 'langfuse.trace.metadata.langfuse_user_id': { rank: 10 } },
    tags: { 'langfuse.trace.tags': { rank: 4 }, 'langfuse.tags': { rank: 5 } },
    first_chunk_at: {
      'langfuse.observation.completion_start_time': {
        rank: 1,
        read: (value) => text(typeof value === 'string' ? unquoted(value) : value),
      },
    },
    environment: { 'langfuse.environment': { rank: 3 } },
    release: { 'langfuse.release': { rank: 3 } },
    // The version of the traced component; the release is that of the program.
    agent_version: { 'langfuse.version': { rank: 3 } },
    langfuse_prompt_name: { 'langfuse.observation.prompt.name': { rank: 1 } },
    langfuse_prompt_version: { 'langfuse.observation.prompt.version': { rank: 1 } },
    status_message: { 'langfuse.observation.status_message': { rank: 1 } },
    input_tokens: { [USAGE]: { rank: 8, read: inputTokens } },
    output_tokens: { [USAGE]: { rank: 8, read: outputTokens } },
    total_tokens: { [USAGE]: { rank: 5, read: usageObject('total') } },
    cached_read: { [USAGE]: { rank: 8, read: usageObject('cached_read') } },
    cached_write: { [USAGE]: { rank: 8, read: usageObject('cached_write') } },
    cached_write_5m: { [USAGE]: { rank: 8, read: usageObject('cached_write_5m') } },
    cached_write_1h: { [USAGE]: { rank: 8, read: usageObject('cached_write_1h') } },
    reasoning: { [USAGE]: { rank: 8, read: usageObject('reasoning') } },
    audio_input: { [USAGE]: { rank: 8, read: usageObject('audio_input') } },
    audio_output: { [USAGE]: { rank: 8, read: usageObject('audio_output') } },
    cost: {
      [COST]: {
        rank: 5,
        read: firstOf(
          inside(['total'], cost),
          costOf(() => true),
        ),
      },
    },
    cost_input: { [COST]: { rank: 5, read: costOf(isOfInput) } },
    cost_output: { [COST]: { rank: 5, read: costOf(isOfOutput) } },
    cost_cached_read: { [COST]: { rank: 4, read: usageObject('cached_read', cost) } },
    cost_cached_write: { [COST]: { rank: 4, read: usageObject('cached_write', cost) } },
    cost_cached_write_5m: { [COST]: { rank: 4, read: usageObject('cached_write_5m', cost) } },
    cost_cached_write_1h: { [COST]: { rank: 4, read: usageObject('cached_write_1h', cost) } },
    cost_audio_input: { [COST]: { rank: 4, read: usageObject('audio_input', cost) } },
    cost_audio_output: { [COST]: { rank: 4, read: usageObject('audio_output', cost) } },
    input: { 'langfuse.observation.input': { rank: 30 } },
    output: { 'langfuse.observation.output': { rank: 30 } },
    parameters: { 'langfuse.observation.model.parameters': { rank: 5 } },
  },
  resource: { environment: { 'langfuse.environment': 3 }, release: { 'langfuse.release': 3 } },
};

/** The sum of the figures with matching names, if `name` is one of them. */
function sumWith(name: string, fits: (name: string) => boolean, read: Reader): Reader {
  return (value) => {
    const object = objectOf(value);
    if (object === undefined || !Object.hasOwn(object, name)) return undefined;
    return isWhole(object) ? read(object[name] ?? null) : sumOf(object, fits, read);
  };
}

/** Whether the total is the sum of input and output alone, so that these include their parts. */
function isWhole({ input, output, total }: JsonObject): boolean {
  return typeof input === 'number' && typeof output === 'number' && total === input + output;
}

function costOf(fits: (name: string) => boolean): Reader {
  return (value) => sumOf(objectOf(value) ?? {}, fits, cost);
}

function sumOf(object: JsonObject, fits: (name: string) => boolean, read: Reader): number | undefined {
  const parts = Object.entries(object)
    .filter(([name]) => fits(name))
    .map(([, value]) => read(value))
    .filter((part) => typeof part === 'number');
  return parts.length === 0 ? undefined : parts.reduce((sum, part) => sum + part, 0);
}
