import t from 'tap';
import { mapSpan } from '../../../support/mapped-span.js';

const CHAIN = { 'langsmith.span.kind': 'chain' };

void t.test('drops tags of steps', async (t) => {
  const tagsOf = (tags: string) => mapSpan({ ...CHAIN, 'langsmith.span.tags': tags }).metadata?.['tags'];
  t.same(tagsOf('graph:step:1, x, seq:step:2'), ['x']);
  t.equal(tagsOf('graph:step:1'), undefined);
});

void t.test('reads role and text pairs as messages and unwraps Command', async (t) => {
  const { input_data, output_data } = mapSpan({
    ...CHAIN,
    'gen_ai.prompt': '{"messages": [["user", "Hi"]]}',
    'gen_ai.completion':
      '{"output": [{"graph": null, "update": {"messages": [{"type": "ai", "content": "Hello"}]}}]}',
  });
  t.same(input_data, { messages: [{ role: 'user', content: 'Hi' }] });
  t.same(output_data, { messages: [{ role: 'assistant', content: 'Hello' }] });
});

void t.test('unwraps the result of a tool', async (t) => {
  const resultOf = (completion: string) =>
    mapSpan({ 'langsmith.span.kind': 'tool', 'gen_ai.completion': completion }).output_data?.['result'];
  t.equal(resultOf('{"output": "sunny"}'), 'sunny');
  t.same(resultOf('{"output": {"city": "Berlin"}}'), { city: 'Berlin' });
  t.same(resultOf('{"output": "sunny", "more": 1}'), { output: 'sunny', more: 1 });
});
