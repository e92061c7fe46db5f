import type { Convention } from '../conventions/convention.js';
import { kindBy } from '../conventions/readers.js';

/** Spring AI, and HTTP clients in Micrometer's own attributes. */
export const SPRING_AI: Convention = {
  fields: {
    kind: {
      'spring.ai.kind': {
        rank: 16,
        read: kindBy({ TOOL_CALL: 'tool', CHAT_CLIENT: 'custom', ADVISOR: 'custom' }),
      },
    },
    tool_name: { 'spring.ai.tool.definition.name': { rank: 11 } },
    arguments: { 'spring.ai.tool.call.arguments': { rank: 24 } },
    result: { 'spring.ai.tool.call.result': { rank: 24 } },
    db_query: { 'db.vector.query.content': { rank: 3 } },
    is_http: { 'http.url': { rank: 2 } },
    http_method: { method: { rank: 3 } },
    http_status: { status: { rank: 3 } },
  },
};
