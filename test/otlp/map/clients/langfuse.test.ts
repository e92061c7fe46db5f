import t from 'tap';
import { mapSpan } from '../../../support/mapped-span.js';
import { mapRun, type SentSpan } from '../../../support/mapped-run.js';

const CHAIN = { 'langfuse.observation.type': 'chain' };

/** A LangChain chain as the callback handler of Langfuse sends it. */
function chain(name: string, ...children: SentSpan[]): SentSpan {
  return { name, attributes: CHAIN, children };
}

void t.test('a root chain names its run, as in OpenInference', async (t) => {
  t.equal(mapRun(chain('weather_bot', chain('model'))).agent, 'weather_bot');
  t.equal(
    mapRun(chain('RunnableSequence', chain('ChatPromptTemplate'))).agent,
    'svc',
    'unless it is generic',
  );
  const agent = { name: 'writer', attributes: { 'langfuse.observation.type': 'agent' } };
  t.equal(mapRun(chain('LangGraph', agent)).agent, 'writer');
});

void t.test('token parts are separate unless the total includes them', async (t) => {
  const tokensOf = (usage: object) => {
    const { input_tokens, output_tokens, total_tokens } = mapSpan({
      'langfuse.observation.type': 'generation',
      'langfuse.observation.usage_details': JSON.stringify(usage),
    });
    return [input_tokens, output_tokens, total_tokens];
  };
  const usage = { input: 56, input_cache_read: 64, output: 29, output_reasoning: 16, total: 165 };
  t.same(tokensOf(usage), [120, 45, 165]);
  t.same(tokensOf({ input: 10, cache_read_input_tokens: 4, output: 5, total: 15 }), [10, 5, 15]);
});
