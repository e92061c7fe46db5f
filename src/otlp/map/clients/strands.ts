import type { Convention } from '../conventions/convention.js';

/** Strands Agents: the name of an agent where nobody gave one. */
export const STRANDS: Convention = {
  agentNames: { generic: ['Strands Agents', 'execute_event_loop_cycle'] },
};
