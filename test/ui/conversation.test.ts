import fc from 'fast-check';
import t from 'tap';
import { parseJson, type Json } from '../../src/ui/json/parse.js';
import { divided, partText, withoutSeen } from '../../src/ui/messages/history.js';
import type { Message } from '../../src/ui/messages/message.js';
import { spokenIn } from '../../src/ui/messages/turn.js';
import { isRepeated, readTurn } from '../../src/ui/pages/run/read-turn.js';
import { isConversation, stepsOf, type Step, type Turn } from '../../src/ui/pages/run/steps.js';
import type { RunSpan } from '../../src/ui/trace/span.js';
import { buildTree } from '../../src/ui/trace/tree.js';
import { aSpanSummary as span } from '../support/ui-spans.js';

const FULL = { inputBytes: 10, outputBytes: 10 };
const agent = (id: string, parent: string | null, start: number, more: Partial<RunSpan> = {}): RunSpan =>
  span(id, parent, start, 1000 - start, { type: 'agent', ...more });
const call = (id: string, parent: string, start: number, more: Partial<RunSpan> = {}): RunSpan =>
  span(id, parent, start, start + 1, { type: 'llm', ...FULL, ...more });
const tool = (id: string, parent: string, start: number, more: Partial<RunSpan> = {}): RunSpan =>
  span(id, parent, start, start + 1, { type: 'tool', ...FULL, ...more });

/** One line per step: its level as indentation, kind and span. */
function outline(spans: readonly RunSpan[]): readonly string[] {
  const nodes = buildTree(spans);
  return stepsOf(nodes).map((step) => {
    const names = step.kind === 'others' ? step.indexes : [step.index];
    const kind = step.kind === 'tool' && step.part !== 'whole' ? `tool ${step.part}` : step.kind;
    const words = names.map((at) => nodes[at]?.span.id ?? '').join(' ');
    return `${' '.repeat(step.level)}${kind} ${words}${step.hasError ? ' !' : ''}`;
  });
}

function turns(spans: readonly RunSpan[]): readonly Extract<Step, { readonly kind: 'turn' }>[] {
  return stepsOf(buildTree(spans)).flatMap((step) => (step.kind === 'turn' ? [step] : []));
}

void t.test('a run reads as question, calls, tools, agents in between and answer', async (t) => {
  const spans = [
    agent('root', null, 0, FULL),
    call('plan', 'root', 1),
    tool('search', 'root', 2),
    span('http', 'search', 2, 3, { type: 'http' }),
    agent('helper', 'root', 4, FULL),
    call('think', 'helper', 5),
    span('GET a', 'root', 6, 7, { type: 'http' }),
    span('GET b', 'root', 7, 8, { type: 'db' }),
    call('write', 'root', 9),
  ];
  t.same(outline(spans), [
    'question root',
    'turn plan',
    'tool search',
    'agent helper',
    ' turn think',
    'others GET a GET b',
    'turn write',
    'answer root',
  ]);
  const [plan, think, write] = turns(spans);
  t.match(plan, { before: undefined, caller: 0, isAfterTools: false, tools: ['search'] });
  t.equal(think?.caller, 4, 'the input of its agent');
  t.match(
    write,
    { before: plan?.payload, caller: undefined, isAfterTools: true },
    'the call of the same agent',
  );
});

void t.test('a tool that runs an agent has its result after the agent', async (t) => {
  const spans = [
    agent('root', null, 0),
    tool('ask', 'root', 1, { end: 900 }),
    agent('helper', 'ask', 2),
    call('think', 'helper', 3),
  ];
  t.same(outline(spans), ['tool call ask', ' agent helper', '  turn think', 'tool result ask']);
});

void t.test('errors are shown where they happened, once', async (t) => {
  const failed = (error: string) => ({ status: 'failed', error, outputBytes: null }) as const;
  const spans = [
    agent('root', null, 0, failed('429 Too many')),
    agent('helper', 'root', 1, failed('429 Too many')),
    call('first', 'helper', 2, failed('429 Too many')),
    span('http', 'first', 2, 3, { type: 'http', ...failed('HTTP 429') }),
    span('db', 'root', 4, 5, { type: 'db', ...failed('no table') }),
  ];
  t.same(outline(spans), ['agent helper', ' turn first !', 'error db !']);
  const other = spans.map((each) => (each.id === 'root' ? { ...each, error: 'gave up' } : each));
  t.equal(outline(other).at(-1), 'error root !', 'an error of its own');
});

void t.test('duplicates of a call are not shown, but lend their payload', async (t) => {
  const spans = [
    agent('root', null, 0),
    call('bare', 'root', 1, { inputBytes: null, outputBytes: null }),
    call('full', 'bare', 1, { counted: false, sameAs: 'bare' }),
  ];
  t.same(outline(spans), ['turn bare']);
  t.equal(turns(spans)[0]?.payload, 2);
});

void t.test('calls that a graph wraps in agents follow each other', async (t) => {
  const spans = [
    agent('root', null, 0),
    agent('node 1', 'root', 1, { end: 5 }),
    call('a', 'node 1', 2),
    agent('tools', 'root', 6, { end: 8 }),
    tool('search', 'tools', 7),
    agent('node 2', 'root', 9, { end: 12 }),
    call('b', 'node 2', 10),
  ];
  const [first, second] = turns(spans);
  t.same(first?.tools, ['search']);
  t.match(second, { before: first?.payload, isAfterTools: true });
});

void t.test('spans without calls are no conversation', async (t) => {
  const spans = [span('root', null, 0, 9, { type: 'http' }), span('db', 'root', 1, 2, { type: 'db' })];
  t.equal(isConversation(stepsOf(buildTree(spans))), false);
  t.equal(isConversation(stepsOf(buildTree([agent('root', null, 0, FULL)]))), true);
});

/** Whether a span is in a model call, without an agent or tool in between. */
function isInCall(nodes: ReturnType<typeof buildTree>, index: number): boolean {
  const around = nodes[nodes[index]?.parent ?? -1];
  if (around === undefined || around.span.type === 'agent' || around.span.type === 'tool') return false;
  return around.span.type === 'llm' || isInCall(nodes, around.index);
}

void t.test('a query of a database asks nobody anything', async (t) => {
  const spans = [span('insert', null, 0, 9, { type: 'db', inputBytes: 10 }), call('embed', 'insert', 1)];
  t.same(outline(spans), ['turn embed']);
});

void t.test('a call in another one is its part, unless there are several', async (t) => {
  const bare = { inputBytes: null, outputBytes: null };
  const wrapped = [agent('root', null, 0), call('wrapper', 'root', 1, bare), call('client', 'wrapper', 1)];
  t.same(outline(wrapped), ['turn wrapper']);
  t.equal(turns(wrapped)[0]?.payload, 2, 'a wrapper without messages has those of its part');
  t.same(outline([...wrapped, call('retry', 'wrapper', 2)]), ['turn wrapper', ' turn client', ' turn retry']);
});

void t.test('every call has one turn and every tool its steps, in order, in any tree', async (t) => {
  const anySpans = fc.array(
    fc.record({
      parent: fc.option(fc.nat(12)),
      start: fc.nat(100),
      type: fc.constantFrom('agent', 'llm', 'tool', 'http', 'custom'),
      status: fc.constantFrom('completed', 'failed'),
    }),
    { maxLength: 13 },
  );
  fc.assert(
    fc.property(anySpans, (all) => {
      const spans = all.map(({ parent, start, ...more }, at) =>
        span(
          `s${String(at)}`,
          parent === null ? null : `s${String(parent)}`,
          start,
          200,
          more as Partial<RunSpan>,
        ),
      );
      const nodes = buildTree(spans);
      const steps = stepsOf(nodes);
      const of = (kind: string): number[] =>
        steps.flatMap((step) =>
          step.kind === kind && !(step.kind === 'tool' && step.part === 'result') ? [step.index] : [],
        );
      const typed = (type: string): number[] =>
        nodes.flatMap(({ span: each, index }) => (each.type === type ? [index] : []));
      const turns = new Set(of('turn'));
      t.same(
        [...turns],
        typed('llm').filter((at) => turns.has(at)),
      );
      t.ok(
        typed('llm').every((at) => turns.has(at) || isInCall(nodes, at)),
        'only parts of calls are left out',
      );
      t.same(of('tool'), typed('tool'));
      t.ok(steps.every(({ level }) => level >= 0 && level <= nodes.length));
      const hasFailure = nodes.some(({ span: { status } }) => status === 'failed');
      t.equal(
        steps.some(({ hasError }) => hasError),
        hasFailure,
        'a failed run shows an error',
      );
    }),
  );
});

const detail = (value: object): Json => parseJson(JSON.stringify(value));
const said = (role: string, content: string) => ({ role, content });
const detailOf = (input: readonly object[], output: string): Json =>
  detail({ input_data: { messages: input }, output_data: said('assistant', output) });
const textsOf = (messages: readonly Message[]): readonly string[] =>
  messages.map(({ role, parts }) => `${role}: ${parts.map(partText).join(' ')}`);

const TURN: Turn = {
  kind: 'turn',
  payload: 0,
  before: undefined,
  caller: undefined,
  isAfterTools: false,
  tools: [],
};

void t.test('a call adds what the call before it did not say', async (t) => {
  const history = [said('system', 'Be brief.'), said('user', 'Hi')];
  const before = detailOf(history, 'Hello.');
  const own = detailOf([...history, said('assistant', 'Hello.'), said('user', 'Hi')], 'Again hello.');
  const read = readTurn(TURN, { own, before });
  t.same(textsOf(read.system), [], 'shown by the first call');
  t.same(textsOf(read.earlier), ['system: Be brief.', 'user: Hi', 'assistant: Hello.']);
  t.same(textsOf(read.asked), ['user: Hi'], 'the second one is new');
  t.same(textsOf(read.answered), ['assistant: Again hello.']);
});

void t.test(
  'earlier turns of a session are folded, and an answer that was given before is shown',
  async (t) => {
    const history = [
      said('user', 'Hi'),
      said('assistant', 'Hello.'),
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'found' }] },
    ];
    const own = detailOf([...history, said('user', 'Look:'), said('user', 'Hi')], 'Hello.');
    const alone = readTurn(TURN, { own });
    t.match(textsOf(alone.earlier), ['user: Hi', 'assistant: Hello.', /found/]);
    t.same(textsOf(alone.asked), ['user: Look:', 'user: Hi']);
    t.same(textsOf(alone.answered), ['assistant: Hello.']);
    const caller = detail({ input_data: { args: ['Hi'], kwargs: {} } });
    t.same(textsOf(readTurn(TURN, { own, caller }).asked), ['user: Look:'], 'the last one is the question');
  },
);

void t.test('the first call folds the question of its agent, whatever its shape', async (t) => {
  const own = detailOf([said('system', 'Be brief.'), said('user', 'Why  is it blue?')], 'Because.');
  for (const input of [
    { question: 'Why is it blue?', user: 'Ada' },
    { messages: [said('user', 'Why is it blue?')] },
  ]) {
    const read = readTurn(TURN, { own, caller: detail({ input_data: input }) });
    t.same(textsOf(read.asked), []);
    t.same(textsOf(read.earlier), ['user: Why  is it blue?']);
    t.same(textsOf(read.system), ['system: Be brief.']);
  }
});

void t.test('tools with steps of their own are not shown in their calls', async (t) => {
  const calls = [{ id: 'c', function: { name: 'search', arguments: '{"q":1}' } }];
  const before = detail({
    input_data: { messages: [said('user', 'Go')] },
    output_data: { role: 'assistant', tool_calls: calls },
  });
  t.same(readTurn({ ...TURN, tools: ['execute_tool search'] }, { own: before }).answered, []);
  t.match(textsOf(readTurn(TURN, { own: before }).answered), [/→ search/]);
  const own = detailOf(
    [
      said('user', 'Go'),
      { role: 'assistant', tool_calls: calls },
      { ...said('tool', 'found'), tool_call_id: 'c' },
    ],
    'Done.',
  );
  t.same(readTurn({ ...TURN, isAfterTools: true }, { own, before }).asked, []);
  t.match(textsOf(readTurn(TURN, { own, before }).asked), [/found/]);
});

void t.test('shortened messages are found again, and output without messages is kept', async (t) => {
  const long = 'A long text that is cut somewhere. '.repeat(10);
  const before = detailOf([said('user', `${long.slice(0, 100)}…`)], 'x');
  t.same(readTurn(TURN, { own: detailOf([said('user', long)], 'y'), before }).asked, []);
  const own = detail({ input_data: { messages: [said('user', 'a')] }, output_data: { status: 429 } });
  t.match(readTurn(TURN, { own }).other, { kind: 'object' });
  const failed = detail({ output_data: { messages: [{ role: 'assistant' }], finish_reasons: ['error'] } });
  t.equal(readTurn(TURN, { own: failed }).other, undefined, 'messages that say nothing');
});

void t.test('the answer of a run may repeat its last call', async (t) => {
  const last = spokenIn(detailOf([], 'It is sunny.'), 'output');
  t.equal(isRepeated(spokenIn(detail({ output_data: { answer: 'It is sunny.' } }), 'output'), last), true);
  t.equal(isRepeated(spokenIn(detail({ output_data: { answer: 'It rains.' } }), 'output'), last), false);
  t.equal(isRepeated([], last), false);
});

void t.test('a payload with one text is a message, others are not', async (t) => {
  const side = (value: object) => textsOf(spokenIn(detail({ input_data: value }), 'input'));
  t.same(side({ message: 'Hi' }), ['user: Hi']);
  t.same(side({ task: 'Go', reset: true, additional_args: {} }), ['user: Go']);
  t.same(side({ args: ['Hi'], kwargs: {} }), ['user: Hi']);
  t.same(side({ city: 'Oslo' }), []);
  t.same(side({ task: 'Go', state: { a: 1 } }), [], 'more than a text');
});

void t.test('divides a call into history, question, repetition and answer', async (t) => {
  const input = spokenIn(
    detailOf([said('system', 's'), said('user', '1'), said('assistant', '2'), said('user', '3')], ''),
    'input',
  );
  // A graph answers with its whole state.
  const output = [...input, ...spokenIn(detailOf([], '4'), 'output')];
  const read = divided(input, output);
  t.same(textsOf(read.system), ['system: s']);
  t.same(textsOf(read.earlier), ['user: 1', 'assistant: 2']);
  t.same(textsOf(read.asked), ['user: 3']);
  t.equal(read.repeated.length, 4);
  t.same(textsOf(read.answered), ['assistant: 4']);
});

void t.test('nothing is lost by folding', async (t) => {
  const messages = fc.array(
    fc
      .string({ maxLength: 3 })
      .map((text): Message => ({ role: 'user', name: undefined, parts: [{ kind: 'text', text }] })),
  );
  fc.assert(
    fc.property(messages, messages, (all, seen) => {
      const { old, fresh } = withoutSeen(all, seen);
      t.same([...old, ...fresh].sort(byText), [...all].sort(byText));
      t.ok(old.length <= seen.length);
    }),
  );
});

function byText(a: Message, b: Message): number {
  return a.parts.map(partText).join() < b.parts.map(partText).join() ? -1 : 1;
}
