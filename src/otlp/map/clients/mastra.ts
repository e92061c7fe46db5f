import type { Convention } from '../conventions/convention.js';

/** Mastra, for attributes beyond the GenAI conventions. */
export const MASTRA: Convention = {
  fields: {
    tags: { 'mastra.tags': { rank: 12 } },
    first_chunk_at: { 'mastra.completion_start_time': { rank: 2 } },
  },
  sdkVersions: ['@mastra/otel-exporter'],
};
