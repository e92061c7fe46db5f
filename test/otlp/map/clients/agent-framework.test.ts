import t from 'tap';
import type { JsonObject } from '../../../../src/signal/attributes.js';
import { mapRun, type SentSpan } from '../../../support/mapped-run.js';
import { mapSpans } from '../../../support/mapped-span.js';
import { toKeyValues } from '../../../../src/otlp/encode/value.js';
import { aSpan } from '../../../support/otlp-requests.js';

const scope = 'agent_framework';
const NAMELESS = 'WorkflowBuilder-82c635e7-5cb1-4d50-99b7-d0d3b8a1b92e';

function workflow(name: string): SentSpan {
  return {
    name: 'workflow.run',
    attributes: { 'workflow.id': 'd666906b-4b54-4ccf-b3f3-bb6c1a44869f', 'workflow.name': name },
    children: [
      {
        name: 'executor.process writer',
        attributes: { 'executor.id': 'writer' },
        children: [
          {
            name: 'invoke_agent writer',
            attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'writer' },
          },
        ],
      },
    ],
  };
}

void t.test('a workflow is named by itself or its first agent', async (t) => {
  t.equal(mapRun(workflow('content_pipeline'), { scope }).agent, 'content_pipeline');
  t.equal(mapRun(workflow(NAMELESS), { scope }).agent, 'writer');
});

void t.test('building a workflow is not a run', async (t) => {
  const built = (attributes: JsonObject) => {
    const span = aSpan(1, {
      parentSpanId: null,
      name: 'workflow.build',
      attributes: toKeyValues(attributes),
    });
    const { batch } = mapSpans({
      resourceSpans: [{ scopeSpans: [{ scope: { name: scope }, spans: [span] }] }],
    });
    return batch.items[0]?.spans[0];
  };
  t.match(built({ 'workflow_builder.name': NAMELESS }), { run_kind: 'other', type: 'agent' });
  t.match(built({ 'workflow_builder.name': 'content_pipeline' }), {
    run_kind: 'other',
    agent_hint: { name: 'content_pipeline' },
  });
});
