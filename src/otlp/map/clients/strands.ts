import type { Convention } from '../conventions/convention.js';

/** Strands Agents: the default name of an agent, which adds up the tokens of all its runs. */
export const STRANDS: Convention = {
  runningTotals: ['strands.telemetry.tracer'],
  agentNames: { generic: ['Strands Agents', 'execute_event_loop_cycle'] },
};
