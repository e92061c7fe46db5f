import t from 'tap';
import { parsePython } from '../../../../src/otlp/map/messages/python-literal.js';
import { toolInput, toolOutput } from '../../../../src/otlp/map/messages/tool-values.js';
import type { JsonValue } from '../../../../src/signal/attributes.js';

const BERLIN = { city: 'Berlin' };

void t.test('reads tool arguments', async (t) => {
  const cases: readonly (readonly [sent: JsonValue, is: JsonValue])[] = [
    ['{"city": "Berlin"}', BERLIN],
    ['"{\\"city\\": \\"Berlin\\"}"', BERLIN],
    [BERLIN, BERLIN],
    ["{'city': 'Berlin'}", BERLIN],
    ['Berlin', 'Berlin'],
    ["'Berlin'", "'Berlin'"],
    ['"Berlin"', 'Berlin'],
    ['{"args": [], "sanitize_inputs_outputs": true, "kwargs": {"city": "Berlin"}}', BERLIN],
    ['{"args": ["Berlin"], "kwargs": {}}', ['Berlin']],
    ['{"args": [1], "kwargs": {"city": "Berlin"}}', { args: [1], kwargs: BERLIN }],
    ['{"args": [], "kwargs": {}}', {}],
    ['{"kwargs": {"city": "Berlin"}}', BERLIN],
    ['{"input_str": "{\'city\': \'Berlin\'}", "tags": [], "inputs": {"city": "Berlin"}}', BERLIN],
    ['{"input_str": "{\'city\': \'Berlin\'}", "tags": [], "inputs": null}', BERLIN],
    ['{"input_str": "Berlin"}', 'Berlin'],
    ['{"input": "{\'city\': \'Berlin\'}"}', BERLIN],
    ['{"input": "Berlin"}', { input: 'Berlin' }],
    ['{"tool_string": "x", "calling": {"tool_name": "w", "arguments": {"city": "Berlin"}}}', BERLIN],
    [[{ role: 'tool', content: '{"city": "Berlin"}', id: 'c1' }], BERLIN],
    ['{"args": "a file", "path": "x"}', { args: 'a file', path: 'x' }],
    [
      [1, 2],
      [1, 2],
    ],
    [7, 7],
  ];
  for (const [sent, is] of cases) t.strictSame(toolInput(sent), is, JSON.stringify(sent));
});

void t.test('reads tool results', async (t) => {
  const cases: readonly (readonly [sent: JsonValue, is: JsonValue])[] = [
    ['sunny', 'sunny'],
    ['"sunny"', 'sunny'],
    ['"\\"sunny\\""', 'sunny'],
    ['{"weather": "sunny"}', { weather: 'sunny' }],
    ['[{"text": "sunny"}]', 'sunny'],
    ['[{"title": "a"}]', [{ title: 'a' }]],
    [[{ role: 'assistant', content: '[{"text": "sunny"}]', id: 'c1' }], 'sunny'],
    ['{"type": "tool", "data": {"content": "sunny", "tool_call_id": "c1", "status": "success"}}', 'sunny'],
    ['{"content": "sunny", "type": "tool", "tool_call_id": "c1"}', 'sunny'],
    ['{"content": "{\\"sun\\": true}", "type": "tool", "tool_call_id": "c1"}', { sun: true }],
    [
      '{"output": {"lc": 1, "type": "constructor", "id": ["ToolMessage"], "kwargs": {"content": "sunny"}}, "kwargs": {}}',
      'sunny',
    ],
    ['{"output": "sunny", "kwargs": {"color": "green"}}', 'sunny'],
    ["content='sunny in Berlin' name='get_weather' tool_call_id='c1'", 'sunny in Berlin'],
    ['content="it\'s sunny" additional_kwargs={}', "it's sunny"],
    ["content='a' or 'b'", "content='a' or 'b'"],
    ['{"content": [{"type": "text", "text": "sunny"}], "isError": false}', 'sunny'],
    [
      '{"content": [{"type": "text", "text": "sunny"}], "structuredContent": {"sun": true}}',
      { content: [{ type: 'text', text: 'sunny' }], structuredContent: { sun: true } },
    ],
    ['{"output": {"content": "sunny", "type": "tool", "tool_call_id": "c1"}}', 'sunny'],
    ['{"output": "sunny"}', { output: 'sunny' }],
    ['{"tool_name": "w", "raw_input": {}, "raw_output": "sunny", "is_error": false}', 'sunny'],
    ['{"output": 1, "other": 2}', { output: 1, other: 2 }],
    [null, null],
    [[], []],
  ];
  for (const [sent, is] of cases) t.strictSame(toolOutput(sent), is, JSON.stringify(sent));
});

void t.test('parses Python literals', async (t) => {
  const cases: readonly (readonly [text: string, value: JsonValue | undefined])[] = [
    [
      "{'a': 1, 'b': [True, False, None], 'c': (1.5, -2e3,)}",
      { a: 1, b: [true, false, null], c: [1.5, -2000] },
    ],
    ['{}', {}],
    ['[]', []],
    ["  {\"a\": 'it\\'s' }  ", { a: "it's" }],
    ["'tab\\tline\\nback\\\\ \\x41\\u00e9\\U0001f600'", 'tab\tline\nback\\ Aé😀'],
    ["{'__proto__': {'x': 1}}", Object.fromEntries([['__proto__', { x: 1 }]])],
    ["{'a': 1", undefined],
    ["{'a' 1}", undefined],
    ["{'a': 1} x", undefined],
    ["{'a': b}", undefined],
    ["{1: 'a'}", undefined],
    ["{'a': datetime.date(2026, 1, 1)}", undefined],
    ["{'a': 1e999}", undefined],
    ["{'a': 12345678901234567890}", undefined],
    ["{'a'}", undefined],
    ["'open", undefined],
    ['Berlin', undefined],
    ['7', undefined],
    ['', undefined],
    ['['.repeat(40), undefined],
    [`${'['.repeat(40)}${']'.repeat(40)}`, undefined],
    [`['${'x'.repeat(20_000)}']`, undefined],
  ];
  for (const [text, value] of cases) t.strictSame(parsePython(text), value, text.slice(0, 60));
  t.equal(parsePython("'\\ud800'"), '\uFFFD');
});
