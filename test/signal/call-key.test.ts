import t from 'tap';
import {
  callKey,
  filledCallKey,
  modelFamily,
  providerFamily,
  readCallKey,
  type CallAttributes,
} from '../../src/signal/call-key.js';

const CALL_ATTRIBUTES: CallAttributes = {
  scope: 'openai',
  model: 'gpt-4o',
  provider: 'openai',
  response: 'chatcmpl-1',
};

void t.test('a key contains reporter and call without missing parts', async (t) => {
  const { scope, model, provider, response } = readCallKey(callKey(CALL_ATTRIBUTES));
  for (const part of [scope, model, provider, response]) t.match(part, /^[\da-z]+$/);
  t.equal(new Set([scope, model, provider, response]).size, 3, 'the scope is named like the provider');
  const unsaid = { scope: '', model: null, provider: null, response: null };
  t.same(readCallKey(callKey(unsaid)), { scope: '', model: '', provider: '', response: '' });
  t.not(readCallKey(callKey({ ...CALL_ATTRIBUTES, response: 'chatcmpl-2' })).response, response);
  t.equal(callKey({ ...CALL_ATTRIBUTES, response: ' chatcmpl-1 ' }), callKey(CALL_ATTRIBUTES));
});

void t.test('a later key fills missing parts of an earlier one', async (t) => {
  const open = callKey({ ...CALL_ATTRIBUTES, response: null, provider: null });
  t.equal(filledCallKey(open, callKey(CALL_ATTRIBUTES)), callKey(CALL_ATTRIBUTES));
  t.equal(
    filledCallKey(callKey(CALL_ATTRIBUTES), callKey({ ...CALL_ATTRIBUTES, model: 'o1' })),
    callKey(CALL_ATTRIBUTES),
  );
  t.equal(filledCallKey(null, open), open);
  t.equal(filledCallKey(open, null), open);
});

for (const [model, family] of [
  ['gpt-4o-2024-08-06', 'gpt-4o'],
  ['GPT-4o', 'gpt-4o'],
  ['openai/gpt-4o-mini', 'gpt-4o-mini'],
  ['gpt-4-0613', 'gpt-4'],
  ['claude-3-5-sonnet-latest', 'claude-3-5-sonnet'],
  ['us.anthropic.claude-sonnet-4-20250514-v1:0', 'claude-sonnet-4'],
  ['claude-sonnet-4@20250514', 'claude-sonnet-4'],
  ['models/gemini-1.5-pro-002', 'gemini-1.5-pro'],
  ['llama3:latest', 'llama3'],
  ['deepseek-v3', 'deepseek-v3'],
  ['text-embedding-3-small', 'text-embedding-3-small'],
  ['llama3.1:8b', 'llama3.1:8b'],
] as const) {
  void t.test(`the model ${model} is in the family ${family}`, async (t) => {
    t.equal(modelFamily(model), family);
  });
}

for (const [provider, family] of [
  ['openai.chat', 'openai'],
  ['OpenAI', 'openai'],
  ['az.ai.openai', 'azure'],
  ['azure_openai', 'azure'],
  ['aws.bedrock', 'bedrock'],
  ['amazon_bedrock', 'bedrock'],
  ['gcp.vertex_ai', 'google'],
  ['google_genai', 'google'],
  ['mistralai', 'mistral'],
  ['x_ai', 'xai'],
  ['Langchain', ''],
  ['litellm', ''],
  ['', ''],
] as const) {
  void t.test(`the provider ${JSON.stringify(provider)} is ${family || 'not known'}`, async (t) => {
    t.equal(providerFamily(provider), family);
  });
}
