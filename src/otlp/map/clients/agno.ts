import type { Convention } from '../conventions/convention.js';

/** Agno. */
export const AGNO: Convention = { agentNames: { generic: ['Team'] } };
