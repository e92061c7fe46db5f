import type { Convention } from '../conventions/convention.js';

/** AutoGen: messages of its runtime, which go through queues of the same process, and its teams' classes. */
export const AUTOGEN: Convention = {
  stepScopes: ['autogen *Runtime'],
  agentNames: { generic: ['autogen *', 'RoundRobinGroupChat*', 'SelectorGroupChat*', 'Swarm*'] },
};
