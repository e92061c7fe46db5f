import type { Convention } from '../conventions/convention.js';

/** smolagents: an unnamed agent is named by its class. */
export const SMOLAGENTS: Convention = {
  agentNames: { generic: ['CodeAgent', 'ToolCallingAgent', 'MultiStepAgent', 'Step *'] },
};
