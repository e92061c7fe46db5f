import t from 'tap';
import { mapRun, type SentSpan } from '../../../support/mapped-run.js';

const INVOKES = { 'gen_ai.operation.name': 'invoke_agent' };

/** A crew as OpenLLMetry sends it. */
function crew(attributes: SentSpan['attributes']): SentSpan {
  return {
    name: 'crewai.workflow',
    attributes: { ...INVOKES, 'crewai.crew.result': 'It is sunny.', ...attributes },
    children: [
      {
        name: 'weather in Berlin?.task',
        attributes: {
          ...INVOKES,
          'traceloop.span.kind': 'task',
          'crewai.task.id': 'a9058e29-5103-4a70-b68d-9dfcd5f3b290',
          'crewai.task.agent': 'Weather expert',
          'crewai.task.description': 'weather in Berlin?',
        },
        children: [
          { name: 'Weather expert.agent', attributes: { ...INVOKES, 'gen_ai.agent.name': 'Weather expert' } },
        ],
      },
    ],
  };
}

void t.test('a crew is named by itself or its first agent, never by a task', async (t) => {
  t.match(mapRun(crew({ 'crewai.crew.name': 'weather_crew' })), {
    agent: 'weather_crew',
    answer: { value: 'It is sunny.' },
  });
  t.equal(mapRun(crew({})).agent, 'Weather expert');
});

void t.test('OpenInference sends a crew as a chain that calls its agents', async (t) => {
  const kind = (name: string) => ({ 'openinference.span.kind': name });
  const { agent, edges } = mapRun({
    name: 'weather_crew.kickoff',
    attributes: kind('CHAIN'),
    children: [{ name: 'Weather expert._execute_core', attributes: kind('AGENT') }],
  });
  t.equal(agent, 'weather_crew');
  t.strictSame(edges, ['weather_crew > Weather expert']);
});
