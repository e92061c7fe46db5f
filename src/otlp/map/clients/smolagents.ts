import type { Convention } from '../conventions/convention.js';

/** smolagents: an agent without a name goes by its class. */
export const SMOLAGENTS: Convention = {
  agentNames: { generic: ['CodeAgent', 'ToolCallingAgent', 'MultiStepAgent', 'Step *'] },
};
