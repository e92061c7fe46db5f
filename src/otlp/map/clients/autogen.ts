import type { Convention } from '../conventions/convention.js';

/** AutoGen: messages of its runtime, and its teams' classes. */
export const AUTOGEN: Convention = {
  agentNames: { generic: ['autogen *', 'RoundRobinGroupChat*', 'SelectorGroupChat*', 'Swarm*'] },
};
