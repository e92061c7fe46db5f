import type { Convention } from '../conventions/convention.js';

/** Strands Agents: the default name of an agent. */
export const STRANDS: Convention = {
  agentNames: { generic: ['Strands Agents', 'execute_event_loop_cycle'] },
};
