import type { Convention } from '../conventions/convention.js';

/** DSPy: a program goes by its class; its own modules name none. */
export const DSPY: Convention = {
  agentNames: { around: ['*.forward'], generic: ['Predict', 'ChainOfThought', 'ProgramOfThought', 'ReAct'] },
};
