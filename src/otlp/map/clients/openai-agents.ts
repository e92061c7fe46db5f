import type { Convention } from '../conventions/convention.js';

/** OpenAI's Agents SDK: the name of a run where nobody gave one. */
export const OPENAI_AGENTS: Convention = {
  agentNames: { generic: ['Agent workflow', 'Runner', 'Runner.run*'] },
};
