import type { Convention } from '../conventions/convention.js';

/** BeeAI: its events are spans. */
export const BEEAI: Convention = { agentNames: { generic: ['agent.*.*-*'] } };
