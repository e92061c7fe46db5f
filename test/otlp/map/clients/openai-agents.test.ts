import t from 'tap';
import { mapRun, type SentSpan } from '../../../support/mapped-run.js';

const scope = 'logfire.openai_agents';

/** A span as Logfire sends it: the name is a pattern, the formatted message is an attribute. */
function span(pattern: string, msg: string, attributes: SentSpan['attributes'], ...children: SentSpan[]) {
  return { name: pattern, attributes: { 'logfire.msg': msg, ...attributes }, children };
}

function aRun(name: string): SentSpan {
  const events = [
    { 'event.name': 'gen_ai.user.message', role: 'user', content: 'weather?' },
    { 'event.name': 'gen_ai.assistant.message', role: 'assistant', content: 'Sunny.' },
  ];
  return span(
    'OpenAI Agents trace: {name}',
    `OpenAI Agents trace: ${name}`,
    { name, group_id: 'conv-7' },
    span(
      'Agent run: {name!r}',
      "Agent run: 'Weather agent'",
      { name: 'Weather agent' },
      span(
        'Turn {turn} for agent Weather agent',
        'Turn 1 for agent Weather agent',
        { agent_name: 'Weather agent' },
        span('Responses API with {gen_ai.request.model!r}', "Responses API with 'gpt-4o-mini'", {
          'gen_ai.operation.name': 'chat',
          'gen_ai.system': 'openai',
          'gen_ai.response.model': 'gpt-4o-mini',
          'gen_ai.usage.input_tokens': 120,
          'gen_ai.usage.output_tokens': 45,
          events: JSON.stringify(events),
        }),
        span('Function: {name}', 'Function: get_weather', {
          name: 'get_weather',
          input: '{"city":"Berlin"}',
          output: 'sunny in Berlin',
        }),
      ),
    ),
  );
}

void t.test('Logfire reports agents in span names', async (t) => {
  t.match(mapRun(aRun('Customer support'), { scope }), {
    agent: 'Customer support',
    session: 'conv-7',
    tools: [['get_weather', { city: 'Berlin' }, 'sunny in Berlin']],
  });
  t.equal(mapRun(aRun('Agent workflow'), { scope }).agent, 'Weather agent', 'if the run has no name');
});

void t.test('without a choice event, the last assistant message is the answer', async (t) => {
  const call = aRun('x').children?.[0]?.children?.[0]?.children?.[0];
  const { question, answer } = mapRun(call ?? { name: '' }, { scope });
  t.match(question, { messages: [{ role: 'user', content: 'weather?' }] });
  t.match(answer, { messages: [{ role: 'assistant', content: 'Sunny.' }] });
});

void t.test('a pattern is the name if its values are unknown', async (t) => {
  const root = { name: 'OpenAI Agents trace: {name}' };
  t.equal(mapRun(root, { scope }).agent, 'svc');
});

void t.test(
  'OpenTelemetry instrumentation: a turn is not an agent, and the status of a workflow is ignored',
  async (t) => {
    const INVOKE = { 'gen_ai.operation.name': 'invoke_agent' };
    const mapped = mapRun(
      {
        name: 'Agent workflow',
        kind: 2,
        attributes: INVOKE,
        children: [
          {
            name: 'unknown',
            attributes: { 'gen_ai.operation.name': 'unknown', 'gen_ai.agent.name': 'OpenAI Agent' },
            children: [
              {
                name: 'invoke_agent Weather agent',
                kind: 3,
                code: 2,
                message: 'Error in agent run',
                attributes: { ...INVOKE, 'gen_ai.agent.name': 'Weather agent' },
              },
            ],
          },
        ],
      },
      { scope: 'opentelemetry.instrumentation.openai_agents' },
    );
    t.match(mapped, { agent: 'Weather agent', status: 'failed', error: 'Error in agent run' });
  },
);

void t.test('an unnamed agent reports its own outcome', async (t) => {
  const mapped = mapRun(
    {
      name: 'CodeAgent.run',
      attributes: { 'openinference.span.kind': 'AGENT' },
      children: [
        { name: 'searcher.run', code: 2, message: 'no', attributes: { 'openinference.span.kind': 'AGENT' } },
      ],
    },
    { scope: 'openinference.instrumentation.smolagents' },
  );
  t.match(mapped, { agent: 'searcher', status: 'completed' });
});
