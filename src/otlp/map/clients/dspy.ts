import type { Convention } from '../conventions/convention.js';

/** DSPy: a program is named by its class; its own modules name no agent. */
export const DSPY: Convention = {
  agentNames: { around: ['*.forward'], generic: ['Predict', 'ChainOfThought', 'ProgramOfThought', 'ReAct'] },
};
