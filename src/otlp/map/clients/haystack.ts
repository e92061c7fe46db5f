import type { Convention } from '../conventions/convention.js';

/** Haystack. */
export const HAYSTACK: Convention = {
  agentNames: {
    generic: [
      'AsyncPipeline',
      'haystack.*',
      '*PromptBuilder',
      '*Embedder',
      '*Retriever',
      '*Ranker',
      'Document*',
    ],
  },
};
