import t from 'tap';
import { mapRun, type SentSpan } from '../../../support/mapped-run.js';

const CHAIN = { 'openinference.span.kind': 'CHAIN' };
const ASKED =
  "AgentInput(input=[ChatMessage(role=<MessageRole.USER: 'user'>, additional_kwargs={}, blocks=[TextBlock(block_type='text', text='weather?')])], current_agent_name='weather')";

/** An agent run as LlamaIndex 0.14 sends it through OpenInference: printed events of its steps contain the name. */
function aRun(root: string, ...steps: SentSpan[]): SentSpan {
  return { name: root, attributes: { ...CHAIN, 'input.value': '{"init_state": {}}' }, children: steps };
}

function step(name: string, input: string, output: string): SentSpan {
  return {
    name: `BaseWorkflowAgent.${name}`,
    attributes: { ...CHAIN, 'input.value': input, 'output.value': output },
  };
}

const BEGIN = step('init_run', '{"ctx": "<Context>", "ev": "AgentWorkflowStartEvent()"}', ASKED);

void t.test('the first step names the agent of a run', async (t) => {
  t.equal(mapRun(aRun('FunctionAgent.run', BEGIN)).agent, 'weather');
  const other = step(
    'setup_agent',
    `{"ctx": "<Context>", "ev": "${ASKED.replace('weather', 'writer')}"}`,
    '',
  );
  t.equal(mapRun(aRun('AgentWorkflow.run', BEGIN, other)).agent, 'weather');
  t.equal(
    mapRun(
      aRun(
        'AgentWorkflow.run',
        step('setup_agent', JSON.stringify({ ctx: '<Context>', ev: ASKED }), 'AgentSetup(input=[...'),
      ),
    ).agent,
    'weather',
    'also if only the input contains it',
  );
});

void t.test('quoted events do not name an agent', async (t) => {
  const quoting = step('call', '{"text": "current_agent_name=\'x\')"}', "He said current_agent_name='y')");
  t.equal(mapRun(aRun('FunctionAgent.run', quoting)).agent, 'svc');
});

void t.test('engines and document processors name no run', async (t) => {
  for (const name of ['RetrieverQueryEngine.query', 'SentenceSplitter.__call__'])
    t.equal(mapRun({ name, attributes: CHAIN }).agent, 'svc', name);
});

void t.test('OpenLLMetry: events are JSON and tools are tasks', async (t) => {
  const task = (name: string, attributes: SentSpan['attributes']): SentSpan => ({
    name,
    attributes: { 'traceloop.span.kind': 'task', 'traceloop.entity.name': name, ...attributes },
  });
  const mapped = mapRun({
    name: 'FunctionAgent.workflow',
    attributes: { 'traceloop.span.kind': 'workflow', 'traceloop.entity.name': 'FunctionAgent.workflow' },
    children: [
      task('BaseWorkflowAgent.task', {
        'traceloop.entity.output': '{"input": [], "current_agent_name": "weather"}',
      }),
      task('FunctionTool.task', {
        'traceloop.entity.input': '{"kwargs": {"city": "Berlin"}}',
        'traceloop.entity.output':
          '{"blocks": [], "tool_name": "get_weather", "raw_output": "sunny in Berlin", "is_error": false}',
      }),
    ],
  });
  t.match(mapped, { agent: 'weather', tools: [['get_weather', { city: 'Berlin' }, 'sunny in Berlin']] });
});
