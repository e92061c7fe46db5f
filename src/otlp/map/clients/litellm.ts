import type { Convention } from '../conventions/convention.js';
import { identity, inside, texts } from '../conventions/readers.js';
import { usageObject } from '../conventions/usage-readers.js';

/** The `metadata` from the caller of the proxy, printed by Python. */
const REQUESTED = 'metadata.requester_metadata';
/** The usage of the provider's answer, as Python prints it. */
const USAGE = 'metadata.usage_object';

/** LiteLLM, the library and the proxy. The user is the user of the key or of the call. */
export const LITELLM: Convention = {
  spanNames: {
    scope: 'litellm',
    kinds: {
      // Reports its parent's call again, with the provider's names.
      raw_gen_ai_request: 'custom',
      // The span may be inside a server span of another instrumentation.
      'Received Proxy Server Request': 'agent',
    },
  },
  fields: {
    user_id: {
      'metadata.user_api_key_end_user_id': { rank: 14 },
      'metadata.user_api_key_user_id': { rank: 15 },
      'metadata.user_id': { rank: 16 },
      [REQUESTED]: { rank: 102, read: inside(['trace_user_id', 'user_id'], identity) },
    },
    session_id: {
      'metadata.session_id': { rank: 16 },
      'litellm.session_id': { rank: 17 },
      [REQUESTED]: { rank: 102, read: inside(['session_id', 'trace_session_id'], identity) },
    },
    tags: { 'metadata.tags': { rank: 10 }, [REQUESTED]: { rank: 102, read: inside(['tags'], texts) } },
    model_alias: { 'litellm.model_group': { rank: 1 } },
    model: { 'litellm.provider.model': { rank: 13 } },
    is_cache_hit: { 'metadata.cache_hit': { rank: 11 }, 'litellm.cache_hit': { rank: 12 } },
    cached_read: { [USAGE]: { rank: 23, read: usageObject('cached_read') } },
    cached_write: { [USAGE]: { rank: 23, read: usageObject('cached_write') } },
    cached_write_5m: { [USAGE]: { rank: 23, read: usageObject('cached_write_5m') } },
    cached_write_1h: { [USAGE]: { rank: 23, read: usageObject('cached_write_1h') } },
    reasoning: { [USAGE]: { rank: 23, read: usageObject('reasoning') } },
    audio_input: { [USAGE]: { rank: 23, read: usageObject('audio_input') } },
    audio_output: { [USAGE]: { rank: 23, read: usageObject('audio_output') } },
    cost: { 'metadata.response_cost': { rank: 15 }, 'litellm.response_cost': { rank: 16 } },
  },
  agentNames: {
    generic: ['litellm_request', 'raw_gen_ai_request', 'Received Proxy Server Request'],
    wrappers: ['Received Proxy Server Request'],
  },
};
