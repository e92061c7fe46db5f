import type { Convention } from '../conventions/convention.js';

/** LiteLLM, the library and the proxy: the user is the one that the key, or the call, is for. */
export const LITELLM: Convention = {
  fields: {
    user_id: {
      'metadata.user_api_key_end_user_id': { rank: 14 },
      'metadata.user_api_key_user_id': { rank: 15 },
      'metadata.user_id': { rank: 16 },
    },
    session_id: { 'metadata.session_id': { rank: 16 }, 'litellm.session_id': { rank: 17 } },
    tags: { 'metadata.tags': { rank: 10 } },
    model: { 'litellm.provider.model': { rank: 13 } },
  },
  agentNames: { generic: ['litellm_request', 'raw_gen_ai_request', 'Received Proxy Server Request'] },
};
