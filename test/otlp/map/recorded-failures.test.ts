import t from 'tap';
import { decodeJson } from '../../../src/otlp/decode/json.js';
import { ApiCaller } from '../../support/api-caller.js';
import { startTestDaemon } from '../../support/daemon.js';
import { mapSpans } from '../../support/mapped-span.js';
import { recordedOtlpTraces, recordedPrograms, sendAlone } from '../../support/recorded-otlp.js';

/** How the errors of failed runs start, as the programmers would report them; no other run failed. */
const FAILED: Readonly<Record<string, readonly string[]>> = {
  'adk_v1.otlp.json': ['google.genai.errors.ClientError: 400 None.'],
  'langfuse_prog.otlp.json': ['boom', 'Error code: 500 - The server had an error'],
  'litellm_prog.otlp.json': ['litellm.exceptions.BadRequestError: litellm.BadRequestError: OpenAIException'],
  'oaiv2.otlp.json': ["Error code: 500 - {'error'"],
  // Only the agent failed; its workflow succeeded.
  'oi_agents.otlp.json': ['Error in agent run: {'],
  'oi_langchain.otlp.json': [
    'ValueError: tool exploded',
    'langchain_openai.chat_models.base.OpenAIAPIError: Error code: 500',
  ],
  'openlit_prog.otlp.json': [
    'openai.InternalServerError: Error code: 500',
    'ValueError: tool exploded',
    'langchain_openai.chat_models.base.OpenAIAPIError: Error code: 500',
  ],
  'strands_prog.otlp.json': ['openai.BadRequestError: Error code: 400'],
  'tl_agents.otlp.json': ["{'message': 'Error in agent run'"],
  'vercel_v4.otlp.json': [
    'AI_ToolExecutionError: Error executing tool broken: tool exploded',
    'AI_APICallError: The server had an error',
  ],
};

const recorded = new Map([...recordedPrograms(), ...recordedOtlpTraces()]);
const skip = recorded.size === 0 && 'the folders of recordings are not here';

for (const [name, text] of recorded)
  void t.test(name, { skip }, async (t) => {
    const { batch } = mapSpans(decodeJson('traces', JSON.parse(text) as unknown));
    const failed = batch.items.flatMap(({ trace }) => (trace.status === 'completed' ? [] : [trace]));
    const expected = FAILED[name] ?? [];
    t.strictSame(
      failed.map(({ status }) => status),
      expected.map(() => 'failed'),
    );
    for (const [i, { error_message }] of failed.entries()) {
      t.ok(error_message?.startsWith(expected[i] ?? '?'), error_message ?? 'no error');
      t.notMatch(error_message, /Traceback|\n\s+at /, 'without the stack');
    }
  });

void t.test('a daemon returns the same errors if spans arrive one by one in reverse', { skip }, async (t) => {
  const { url, key } = await startTestDaemon(t);
  const api = new ApiCaller(url, key);
  await sendAlone(api, recorded.values());
  const { items } = await api.get<{ items: { error_message: string }[] }>(
    '/dashboard/traces?status=failed&page_size=100',
  );
  const errors = items.map(({ error_message }) => error_message).sort();
  const expected = Object.values(FAILED).flat().sort();
  t.equal(errors.length, expected.length);
  for (const [i, error] of errors.entries()) t.ok(error.startsWith(expected[i] ?? '?'), error);
  const agents = await api.get<{ name: string; failed_runs: number }[]>('/agents');
  const failed = agents.reduce((sum, { failed_runs }) => sum + failed_runs, 0);
  t.equal(failed, expected.length, 'each counts for its agent');
});
