import t from 'tap';
import { toldRun, type SentSpan } from '../../../support/told-run.js';

const CHAIN = { 'langfuse.observation.type': 'chain' };

/** A chain of LangChain, as Langfuse's callback handler tells of it. */
function chain(name: string, ...children: SentSpan[]): SentSpan {
  return { name, attributes: CHAIN, children };
}

void t.test('a chain at the root names its run, as that of OpenInference does', async (t) => {
  t.equal(toldRun(chain('weather_bot', chain('model'))).agent, 'weather_bot');
  t.equal(
    toldRun(chain('RunnableSequence', chain('ChatPromptTemplate'))).agent,
    'svc',
    'unless it is generic',
  );
  const agent = { name: 'writer', attributes: { 'langfuse.observation.type': 'agent' } };
  t.equal(toldRun(chain('LangGraph', agent)).agent, 'writer');
});
