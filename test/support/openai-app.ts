import { OpenAIInstrumentation } from '@arizeai/openinference-instrumentation-openai';
import { NodeSDK } from '@opentelemetry/sdk-node';
import OpenAI from 'openai';

/** A program that calls the model at SERVER_URL. OTEL_* configures its instrumentation and endpoint. */
const instrumentation = new OpenAIInstrumentation();
instrumentation.manuallyInstrument(OpenAI);
const sdk = new NodeSDK({ instrumentations: [instrumentation] });
sdk.start();

const client = new OpenAI({ apiKey: 'none', baseURL: process.env.SERVER_URL ?? '' });
await client.chat.completions.create({
  model: 'gpt-4o-mini',
  temperature: 0,
  messages: [
    { role: 'system', content: 'You answer in one word.' },
    { role: 'user', content: 'What is the capital of Norway?' },
  ],
});
await sdk.shutdown();
