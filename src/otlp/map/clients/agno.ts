import type { Convention } from '../conventions/convention.js';

/** Agno, as OpenInference reports it. */
export const AGNO: Convention = {
  separateCachesOfClaude: ['openinference.instrumentation.agno'],
  agentNames: { generic: ['Team'] },
};
