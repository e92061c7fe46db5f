import type { Convention } from '../conventions/convention.js';

/** Semantic Kernel. */
export const SEMANTIC_KERNEL: Convention = {
  agentNames: {
    generic: ['AutoFunctionInvocationLoop', 'ChatCompletionAgent', 'AzureAIAgent', 'OpenAIAssistantAgent'],
  },
};
