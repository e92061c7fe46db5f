import type { Convention } from '../conventions/convention.js';

/** Strands Agents: agents have a default name and report the total tokens of all their runs. */
export const STRANDS: Convention = {
  runningTotals: ['strands.telemetry.tracer'],
  agentNames: { generic: ['Strands Agents', 'execute_event_loop_cycle'] },
};
