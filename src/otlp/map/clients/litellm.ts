import type { Convention } from '../conventions/convention.js';
import { usageObject } from '../conventions/usage-readers.js';

/** The usage of the provider's answer, as Python prints it. */
const USAGE = 'metadata.usage_object';

/** LiteLLM, the library and the proxy. The user is the user of the key or of the call. */
export const LITELLM: Convention = {
  // The same call as its parent, in the provider's words.
  spanNames: { scope: 'litellm', kinds: { raw_gen_ai_request: 'custom' } },
  fields: {
    user_id: {
      'metadata.user_api_key_end_user_id': { rank: 14 },
      'metadata.user_api_key_user_id': { rank: 15 },
      'metadata.user_id': { rank: 16 },
    },
    session_id: { 'metadata.session_id': { rank: 16 }, 'litellm.session_id': { rank: 17 } },
    tags: { 'metadata.tags': { rank: 10 } },
    model: { 'litellm.provider.model': { rank: 13 } },
    cached_read: { [USAGE]: { rank: 23, read: usageObject('cached_read') } },
    cached_write: { [USAGE]: { rank: 23, read: usageObject('cached_write') } },
    reasoning: { [USAGE]: { rank: 23, read: usageObject('reasoning') } },
    audio_input: { [USAGE]: { rank: 23, read: usageObject('audio_input') } },
    audio_output: { [USAGE]: { rank: 23, read: usageObject('audio_output') } },
    cost: { 'metadata.response_cost': { rank: 15 }, 'litellm.response_cost': { rank: 16 } },
  },
  agentNames: { generic: ['litellm_request', 'raw_gen_ai_request', 'Received Proxy Server Request'] },
};
