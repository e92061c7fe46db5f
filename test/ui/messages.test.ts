import t from 'tap';
import { parseJson, printJson } from '../../src/ui/json/parse.js';
import { readConversation } from '../../src/ui/messages/conversation.js';
import { shownMedia, textAndPictures } from '../../src/ui/messages/media.js';
import type { Conversation } from '../../src/ui/messages/message.js';

type Side = 'input' | 'output';

function read(side: Side, value: unknown): Conversation | undefined {
  return readConversation(parseJson(JSON.stringify(value)), side);
}

/** `assistant: text Hi | call add {"a":1} #1` for each message. */
function textsOf(side: Side, value: unknown): readonly string[] | undefined {
  return read(side, value)?.messages.map(({ role, parts }) => {
    const words = parts.map((part) => {
      switch (part.kind) {
        case 'text':
        case 'reasoning':
          return `${part.kind} ${part.text}`;
        case 'call':
          return `call ${part.name} ${part.input ? printJson(part.input) : ''} #${part.id ?? ''}`;
        case 'result':
          return `result ${part.output ? printJson(part.output) : ''} #${part.id ?? ''}${part.isError ? ' !' : ''}`;
        case 'media':
          return `media ${part.what} ${part.type ?? ''} ${part.source ?? ''}`;
        case 'unknown':
          return `unknown ${printJson(part.value)}`;
      }
    });
    return `${role}: ${words.join(' | ')}`;
  });
}

void t.test('reads calls of the daemon and OpenAI chat completions', async (t) => {
  const call = { id: 'c1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } };
  t.same(
    textsOf('input', {
      messages: [
        { role: 'system', content: 'Be brief.' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'And?' },
            { type: 'image_url', image_url: { url: 'https://evil.example/x.png' } },
          ],
        },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: '{"c":4}' },
      ],
      tools: [],
    }),
    [
      'system: text Be brief.',
      'user: text And? | media image  https://evil.example/x.png',
      'assistant: call weather {"city":"Oslo"} #c1',
      'tool: result {"c":4} #c1',
    ],
  );
  t.same(textsOf('output', { choices: [{ index: 0, message: { role: 'assistant', content: 'Cold.' } }] }), [
    'assistant: text Cold.',
  ]);
  t.same(textsOf('output', { role: 'assistant', content: 'Cold.', finish_reason: 'stop' }), [
    'assistant: text Cold.',
  ]);
  t.same(
    textsOf('output', {
      messages: [{ role: 'assistant', tool_calls: [{ id: 'x', name: 'go', arguments: {} }] }],
    }),
    ['assistant: call go {} #x'],
  );
});

void t.test('reads OpenAI responses', async (t) => {
  t.same(textsOf('input', { instructions: 'Be brief.', input: 'Hello', model: 'gpt-5' }), [
    'system: text Be brief.',
    'user: text Hello',
  ]);
  t.same(
    textsOf('output', {
      output: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] },
        { type: 'function_call', call_id: 'c1', name: 'add', arguments: '{"a":1}' },
        { type: 'function_call_output', call_id: 'c1', output: '2' },
        { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Two.' }] },
      ],
    }),
    [
      'assistant: reasoning Hm.',
      'assistant: call add {"a":1} #c1',
      'tool: result "2" #c1',
      'assistant: text Two.',
    ],
  );
});

void t.test('reads Anthropic', async (t) => {
  t.same(
    textsOf('input', {
      system: [{ type: 'text', text: 'Be brief.' }],
      messages: [
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: 'Hm.' },
            { type: 'tool_use', id: 't1', name: 'add', input: { a: 1 } },
          ],
        },
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 't1',
              is_error: true,
              content: [{ type: 'text', text: 'no' }],
            },
          ],
        },
        {
          role: 'user',
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } }],
        },
      ],
    }),
    [
      'system: text Be brief.',
      'assistant: reasoning Hm. | call add {"a":1} #t1',
      'user: result "no" #t1 !',
      'user: media image image/png ',
    ],
  );
});

void t.test('reads Gemini', async (t) => {
  t.same(
    textsOf('input', {
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      contents: [
        { role: 'user', parts: [{ text: 'Hi' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
        { role: 'model', parts: [{ functionCall: { name: 'add', args: { a: 1 } } }] },
        { role: 'user', parts: [{ functionResponse: { name: 'add', response: { sum: 2 } } }] },
      ],
    }),
    [
      'system: text Be brief.',
      'user: text Hi | media image image/png ',
      'assistant: call add {"a":1} #',
      'user: result {"sum":2} #',
    ],
  );
  t.same(textsOf('output', { candidates: [{ content: { role: 'model', parts: [{ text: 'Two.' }] } }] }), [
    'assistant: text Two.',
  ]);
});

void t.test('reads the Vercel AI SDK', async (t) => {
  t.same(
    textsOf('input', {
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Hi' },
            { type: 'file', mediaType: 'application/pdf', data: 'x' },
          ],
        },
        {
          role: 'assistant',
          content: [{ type: 'tool-call', toolCallId: 'v1', toolName: 'add', input: { a: 1 } }],
        },
        {
          role: 'tool',
          content: [
            {
              type: 'tool-result',
              toolCallId: 'v1',
              toolName: 'add',
              output: { type: 'json', value: { sum: 2 } },
            },
          ],
        },
      ],
    }),
    [
      'user: text Hi | media file application/pdf ',
      'assistant: call add {"a":1} #v1',
      'tool: result {"sum":2} #v1',
    ],
  );
  t.same(textsOf('input', { prompt: 'Hi' }), ['user: text Hi']);
  t.same(textsOf('output', { text: 'Two.', toolCalls: [{ toolCallId: 'v2', toolName: 'go', input: {} }] }), [
    'assistant: text Two.',
    'assistant: call go {} #v2',
  ]);
});

void t.test('reads LangChain', async (t) => {
  const human = {
    lc: 1,
    type: 'constructor',
    id: ['langchain', 'schema', 'HumanMessage'],
    kwargs: { content: 'Hi' },
  };
  t.same(textsOf('input', { messages: [[human]] }), ['user: text Hi']);
  t.same(
    textsOf('input', [
      { type: 'system', content: 'Be brief.' },
      { type: 'human', data: { content: 'Hi' } },
    ]),
    ['system: text Be brief.', 'user: text Hi'],
  );
  const answer = {
    type: 'ai',
    content: '',
    tool_calls: [{ name: 'add', args: { a: 1 }, id: 'l1', type: 'tool_call' }],
  };
  t.same(textsOf('output', { generations: [[{ text: '', message: answer }]] }), [
    'assistant: call add {"a":1} #l1',
  ]);
});

void t.test('reads OTel GenAI', async (t) => {
  t.same(
    textsOf('input', [
      {
        role: 'user',
        parts: [
          { type: 'text', content: 'Hi' },
          { type: 'uri', modality: 'image', mime_type: 'image/png', uri: 'https://x/y' },
        ],
      },
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', content: 'Hm.' },
          { type: 'tool_call', id: 'g1', name: 'add', arguments: { a: 1 } },
        ],
      },
      { role: 'tool', parts: [{ type: 'tool_call_response', id: 'g1', response: 2 }] },
    ]),
    [
      'user: text Hi | media image image/png https://x/y',
      'assistant: reasoning Hm. | call add {"a":1} #g1',
      'tool: result 2 #g1',
    ],
  );
});

void t.test('hides nothing: unknown parts are shown and extra fields kept', async (t) => {
  t.same(textsOf('input', { messages: [{ role: 'user', content: [{ type: 'hologram', x: 1 }] }] }), [
    'user: unknown {"type":"hologram","x":1}',
  ]);
  for (const role of ['__proto__', 'constructor', 'narrator'])
    t.same(textsOf('input', { messages: [{ role, content: 'Hi' }] }), ['other: text Hi']);
  const conversation = read('input', { messages: [{ role: 'user', content: 'Hi' }], temperature: 0.5 });
  t.same(
    conversation?.rest.map(([key]) => key),
    ['temperature'],
  );
});

void t.test('other values are not conversations', async (t) => {
  for (const value of [
    { rows: 3 },
    {},
    [],
    [1, 2],
    { messages: [] },
    { input: { a: 1 } },
    { output: [1] },
    null,
    7,
  ])
    t.equal(textsOf('input', value), undefined, JSON.stringify(value));
});

/** The first bytes of a PNG of that size, in base64. */
function pngHead(width: number, height: number): string {
  const head = Buffer.alloc(33);
  head.set([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13]);
  head.write('IHDR', 12);
  head.writeUInt32BE(width, 16);
  head.writeUInt32BE(height, 20);
  return head.toString('base64');
}

void t.test('shows embedded pictures and sounds of known formats and limited size', async (t) => {
  const media = (data: string | undefined, type = 'image/png', source?: string) =>
    shownMedia({ kind: 'media', what: type.split('/')[0] ?? '', type, source, data });
  const png = pngHead(400, 300);
  t.same(media(png), { kind: 'image', url: `data:image/png;base64,${png}` });
  t.same(media(png, 'text/html'), { kind: 'image', url: `data:image/png;base64,${png}` }, 'the bytes decide');
  t.match(media(pngHead(60_000, 60_000)), { kind: 'none', reason: /60,000 × 60,000 pixels/ });
  t.match(media(Buffer.from('<svg onload="alert(1)"/>').toString('base64'), 'image/svg+xml'), {
    kind: 'none',
  });
  t.match(media(undefined, 'image/png', 'https://evil.example/x.png'), {
    kind: 'none',
    reason: /not loaded/,
  });
  t.match(media('AA"><script>'), { kind: 'none', reason: 'damaged base64' });
  t.match(media(`${png}${'A'.repeat(9 * 1024 * 1024)}`), { kind: 'none', reason: /too large/ });
  t.same(media(`${png.slice(0, 20)}…`), { kind: 'cut' });
  t.same(media('QUJD', 'audio/wav'), { kind: 'audio', url: 'data:audio/wav;base64,QUJD' });
  t.match(media('QUJD', 'audio/pcm16'), { kind: 'none', reason: /cannot be played/ });
  const heads = {
    'image/gif': [...Buffer.from('GIF89a'), 8, 0, 4, 0],
    'image/jpeg': [0xff, 0xd8, 0xff, 0xe0, 0, 4, 0, 0, 0xff, 0xc0, 0, 17, 8, 0, 4, 0, 8],
    'image/webp': [...Buffer.from('RIFF0000WEBPVP8X'), ...Array.from({ length: 14 }, () => 0)],
  };
  for (const [type, bytes] of Object.entries(heads))
    t.match(media(Buffer.from(bytes).toString('base64'), type), {
      kind: 'image',
      url: new RegExp(`^data:${type}`),
    });
});

void t.test('finds embedded data in the formats of clients and in Markdown', async (t) => {
  const png = pngHead(2, 2);
  const dataOf = (part: object) =>
    readConversation(parseJson(JSON.stringify([{ role: 'user', content: [part] }])), 'input')?.messages[0]
      ?.parts[0];
  for (const part of [
    { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
    { type: 'input_image', image_url: `data:image/png;base64,${png}` },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png } },
    { inlineData: { mimeType: 'image/png', data: png } },
    { type: 'blob', modality: 'image', mime_type: 'image/png', content: png },
    { type: 'file', mediaType: 'image/png', data: png },
  ])
    t.match(dataOf(part), { kind: 'media', what: 'image', type: 'image/png', data: png, source: undefined });
  t.match(dataOf({ type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } }), {
    what: 'audio',
    type: 'audio/wav',
    data: 'QUJD',
  });
  t.match(textAndPictures(`See ![a](data:image/png;base64,${png}) and ![b](https://evil.example/x.png)`), [
    'See ',
    { kind: 'media', type: 'image/png', data: png },
    ' and ![b](https://evil.example/x.png)',
  ]);
  t.same(textAndPictures('plain'), ['plain']);
});
