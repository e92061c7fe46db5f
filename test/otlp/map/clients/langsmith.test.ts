import t from 'tap';
import { mapSpan } from '../../../support/mapped-span.js';

const CHAIN = { 'langsmith.span.kind': 'chain' };

void t.test('tags of steps are not those of the program', async (t) => {
  const tagsOf = (tags: string) => mapSpan({ ...CHAIN, 'langsmith.span.tags': tags }).metadata?.['tags'];
  t.same(tagsOf('graph:step:1, x, seq:step:2'), ['x']);
  t.equal(tagsOf('graph:step:1'), undefined);
});

void t.test('pairs of a role and a text are messages, and a Command gives back its own', async (t) => {
  const { input_data, output_data } = mapSpan({
    ...CHAIN,
    'gen_ai.prompt': '{"messages": [["user", "Hi"]]}',
    'gen_ai.completion':
      '{"output": [{"graph": null, "update": {"messages": [{"type": "ai", "content": "Hello"}]}}]}',
  });
  t.same(input_data, { messages: [{ role: 'user', content: 'Hi' }] });
  t.same(output_data, { messages: [{ role: 'assistant', content: 'Hello' }] });
});

void t.test('what a tool gave back is without the object that LangSmith puts it into', async (t) => {
  const resultOf = (completion: string) =>
    mapSpan({ 'langsmith.span.kind': 'tool', 'gen_ai.completion': completion }).output_data?.['result'];
  t.equal(resultOf('{"output": "sunny"}'), 'sunny');
  t.same(resultOf('{"output": {"city": "Berlin"}}'), { city: 'Berlin' });
  t.same(resultOf('{"output": "sunny", "more": 1}'), { output: 'sunny', more: 1 });
});
