import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { JsonObject } from '../../src/signal/attributes.js';
import type { OpenPage } from '../support/browser.js';
import { aSpan } from '../support/trace-batch.js';
import { lookRight, startPages, type TestPages } from '../support/ui.js';
import { until } from '../support/until.js';

const SPANS = 10_000;
/** The maximum per request, and requests sent concurrently. */
const BATCH = 100;
const AT_ONCE = 10;
/** A browser opens six connections to a daemon, and each file costs a round trip. */
const MOST_FILES = 17;
/** More rendered rows than visible ones slow down scrolling. */
const MAX_ROWS = 150;

/** A run of steps with calls, ten of which failed. @returns its id */
async function bigRun({ api }: TestPages): Promise<string> {
  const id = randomUUID();
  const start = Date.parse('2026-11-03T08:00:00Z');
  const spans: JsonObject[] = [];
  const add = (
    parent: string | null,
    name: string,
    from: number,
    to: number,
    more: JsonObject = {},
  ): string => {
    const span = aSpan(id, {
      parent_span_id: parent,
      name,
      started_at: new Date(start + from).toISOString(),
      ended_at: new Date(start + to).toISOString(),
      duration_ms: to - from,
      ...more,
    });
    spans.push(span);
    return span['span_id'] as string;
  };
  const root = add(null, 'root', 0, SPANS, { type: 'agent' });
  while (spans.length < SPANS) {
    const step = add(root, `step ${String(spans.length)}`, spans.length, SPANS, { type: 'custom' });
    for (let at = 0; at < 99 && spans.length < SPANS; at += 1) {
      const bad = at === 50 && spans.length % 1000 < 100;
      const failed = bad ? { status: 'failed', error_message: 'No answer' } : {};
      add(step, at % 2 === 0 ? 'ask' : 'look up', spans.length, spans.length + 1, failed);
    }
  }
  const header = {
    trace_id: id,
    agent: 'big',
    status: 'completed',
    success: true,
    started_at: new Date(start).toISOString(),
    ended_at: new Date(start + SPANS).toISOString(),
  };
  const batches = Array.from({ length: SPANS / BATCH }, (_, at) => spans.slice(at * BATCH, (at + 1) * BATCH));
  for (let at = 0; at < batches.length; at += AT_ONCE) {
    const answers = batches
      .slice(at, at + AT_ONCE)
      .map((some) =>
        api.call('POST', '/traces/batch', { json: { traces: [{ trace: header, spans: some }] } }),
      );
    for (const { status, body } of await Promise.all(answers))
      if (status !== 200) throw new Error(JSON.stringify(body));
  }
  return id;
}

const rows = (page: OpenPage['page']) => page.getByRole('row');
const selected = (page: OpenPage['page']) => page.locator('[role="row"][aria-selected="true"]');

void t.test('the page of a run', async (t) => {
  const pages = await startPages(t);
  const id = await bigRun(pages);

  await t.test('renders only visible rows of ten thousand spans and reaches all of them', async (t) => {
    const { page, complaints } = await pages.permit(`/traces/${id}?fold=0`);
    const grid = page.getByRole('treegrid');
    await grid.waitFor();
    t.equal(await grid.getAttribute('aria-rowcount'), String(SPANS + 1));
    await grid.focus();
    for (const [key, shown] of [
      ['End', 'last'],
      ['PageUp', 'above it'],
      ['Home', 'first'],
    ] as const) {
      await page.keyboard.press(key);
      await selected(page).waitFor();
      t.ok((await rows(page).count()) <= MAX_ROWS, shown);
    }
    t.equal(await selected(page).getAttribute('aria-level'), '1');
    t.equal(await grid.getAttribute('aria-activedescendant'), await selected(page).getAttribute('id'));
    t.same(complaints, []);
  });

  await t.test('loads few files and requests spans in parallel', async (t) => {
    const { page, complaints } = await pages.permit('/login');
    await page.waitForLoadState('networkidle');
    const requests: string[] = [];
    page.on('request', (request) => {
      // The previous page may still have requests.
      if (request.isNavigationRequest()) requests.length = 0;
      requests.push(new URL(request.url()).pathname);
    });
    const asked = page.waitForRequest((request) => request.url().endsWith(`/traces/${id}/spans`));
    await page.route('**/assets/main-*.js', async (route) => {
      await asked;
      await route.continue();
    });
    await page.goto(`${pages.url}/traces/${id}`);
    await page.getByRole('treegrid').waitFor();
    const files = requests.filter((path) => path.startsWith('/assets/'));
    t.ok(files.length <= MOST_FILES, files.join('\n'));
    const answers = requests.filter((path) => /\/(me|spans)$/.test(path)).sort();
    t.same(answers, [`/api/v1/dashboard/traces/${id}/spans`, '/api/v1/me'], 'each once');
    t.same(complaints, []);
  });

  await t.test('supports levels, folding, navigation, errors and search by keyboard', async (t) => {
    const { page, complaints } = await pages.permit(`/traces/${id}?fold=0`);
    const grid = page.getByRole('treegrid');
    await grid.waitFor();
    t.match(await selected(page).textContent(), 'failed', 'starts at the error');
    await page.keyboard.press('2');
    t.equal(await grid.getAttribute('aria-rowcount'), '102', 'the head, the root and a hundred steps');
    await grid.focus();
    await page.keyboard.press('Home');
    await page.keyboard.press('ArrowLeft');
    t.equal(await grid.getAttribute('aria-rowcount'), '2');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    t.equal(await selected(page).getAttribute('aria-level'), '2');
    t.equal(await selected(page).getAttribute('aria-expanded'), 'false');
    await page.keyboard.press('ArrowRight');
    t.equal(await selected(page).getAttribute('aria-expanded'), 'true');
    await page.keyboard.press('e');
    await page.locator('[aria-selected="true"]', { hasText: 'failed' }).waitFor();
    t.equal(await selected(page).getAttribute('aria-level'), '3', 'collapsed ancestors are expanded');
    t.match(await page.getByRole('region', { name: 'Span' }).textContent(), 'No answer');
    await page.keyboard.press('/');
    await page.keyboard.type('step 10');
    await page.keyboard.press('Enter');
    await page.getByText(/^1 of \d/).waitFor();
    const link = page.url();
    t.match(link, 'q=step+10');
    const other = await pages.permit(link.slice(pages.url.length));
    await selected(other.page).waitFor();
    t.equal(
      await selected(other.page).textContent(),
      await selected(page).textContent(),
      'the link leads to the same span',
    );
    t.same(complaints, []);
  });

  await t.test('repeats are one row until expanded, with count and cost', async (t) => {
    const trace = randomUUID();
    const root = aSpan(trace, {
      type: 'agent',
      name: 'loop',
      cost_usd: undefined,
      input_tokens: undefined,
      output_tokens: undefined,
      total_tokens: undefined,
    });
    const same = Array.from({ length: 7 }, (_, at) =>
      aSpan(trace, {
        type: 'tool',
        name: 'search',
        parent_span_id: root['span_id'] as string,
        started_at: `2026-11-03T08:15:30.${String(300 + at)}Z`,
      }),
    );
    const header = {
      trace_id: trace,
      agent: 'looper',
      status: 'completed',
      started_at: '2026-11-03T08:15:30.250Z',
      ended_at: '2026-11-03T08:15:31.5Z',
    };
    await pages.api.call('POST', '/traces/batch', {
      json: { traces: [{ trace: header, spans: [root, ...same] }] },
    });
    const { page } = await pages.permit(`/traces/${trace}?span=${root['span_id'] as string}`);
    const folded = rows(page).filter({ hasText: '7×' });
    await folded.waitFor();
    t.match(await folded.textContent(), 'same arguments 7 times: $0.0075, 720 tokens');
    t.match(await folded.textContent(), '$0.00875');
    t.equal(await rows(page).count(), 3);
    await folded.click();
    await page.getByText(/7 in a row, same arguments 7 times\. Total: \$0\.00875, 840 tokens/).waitFor();
    await page.keyboard.press('r');
    await page.waitForURL('**fold=0**');
    t.equal(await rows(page).count(), 9);
  });

  await t.test('follows a running run and loads long payloads on request', async (t) => {
    const trace = randomUUID();
    const header = {
      trace_id: trace,
      agent: 'runner',
      status: 'running',
      started_at: '2026-11-03T08:15:30.250Z',
    };
    const send = async (some: JsonObject, spans: readonly JsonObject[]): Promise<void> => {
      const json = { traces: [{ trace: { ...header, ...some }, spans }] };
      const { status } = await pages.api.call('POST', '/traces/batch', { json });
      t.equal(status, 200);
    };
    const first = aSpan(trace, {
      name: 'first',
      type: 'tool',
      input_data: { text: `${'x'.repeat(200_000)} the end` },
    });
    await send({}, [first]);
    const { page, complaints } = await pages.permit(`/traces/${trace}?tab=json`);
    await rows(page).filter({ hasText: 'first' }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url()));
    await page.getByText('Long values truncated').waitFor();
    await page.getByRole('button', { name: 'Load full content' }).click();
    await page.getByText('Long values truncated').waitFor({ state: 'detached' });
    t.ok(asked.some((url) => url.includes('/spans/') && !url.includes('max_bytes')));
    await send({}, [aSpan(trace, { name: 'second' })]);
    await rows(page).filter({ hasText: 'second' }).waitFor();
    t.notOk(
      asked.some((url) => url.endsWith(`/traces/${trace}`) || url.includes('/spans?')),
      'received by the stream, not requested',
    );
    await send({ status: 'completed', ended_at: '2026-11-03T08:15:40Z' }, []);
    await page.locator('header', { hasText: 'Completed' }).first().waitFor();
    t.same(complaints, []);
  });

  await t.test('reads a run as a conversation and loads only what is in view', async (t) => {
    const { trace, root, calls } = await talk(pages, 60);
    const { page, complaints } = await pages.permit(`/traces/${trace}`);
    const payloads: string[] = [];
    page.on('request', (request) => {
      if (/\/spans\/./.test(request.url())) payloads.push(request.url());
    });
    const conversation = page.getByRole('group', { name: 'Conversation' });
    await conversation.getByText('Question 1?', { exact: true }).waitFor();
    await conversation.getByText('Answer 1.', { exact: true }).waitFor();
    const second = conversation.getByRole('group', { name: 'Model: reply' }).nth(1);
    await second.getByText('Question 2?', { exact: true }).waitFor();
    t.equal(await second.getByText('Question 1?').count(), 0, 'history is folded');
    await second.getByText('2 earlier messages').click();
    await second.getByText('Question 1?', { exact: true }).waitFor();
    t.ok(
      payloads.length < calls.length / 2,
      `${String(payloads.length)} of ${String(calls.length)} payloads`,
    );
    t.ok((await conversation.getByRole('listitem').count()) < calls.length);

    await conversation.focus();
    await page.keyboard.press('End');
    await conversation.getByText('The same as the last answer of the model.').waitFor();
    await conversation.getByText('Answer 60.', { exact: true }).waitFor();
    await conversation.getByRole('link', { name: 'reply' }).last().click();
    const span = page.getByRole('region', { name: 'Span' });
    await span.getByText('Answer 60.', { exact: true }).waitFor();
    t.match(page.url(), `span=${calls.at(-1) ?? ''}`);
    t.equal(await span.getByRole('region', { name: 'Input' }).getByText('Question 60?').count(), 1);
    t.equal(await span.getByRole('region', { name: 'Output' }).getByText('Question 60?').count(), 0);
    await page.goBack();
    await conversation.getByText('Answer 60.', { exact: true }).waitFor();
    t.match(page.url(), new RegExp(`${trace}$`), 'at the place where reading stopped');

    // A link to a span shows it; S leads to its place in the conversation.
    await page.goto(`${pages.url}/traces/${trace}?span=${calls[29] ?? ''}`);
    await span.getByText('Answer 30.', { exact: true }).waitFor();
    await page.keyboard.press('s');
    await conversation.getByText('Answer 30.', { exact: true }).waitFor();
    await page.goto(`${pages.url}/traces/${trace}?span=${root}`);
    await span.getByText('Question 1?').waitFor();
    t.same(complaints, []);
  });

  await t.test('finds text in payloads and jumps to it', async (t) => {
    const { trace, calls } = await talk(pages, 5);
    const { page, complaints } = await pages.permit(`/traces/${trace}?fold=0`);
    await page.getByRole('treegrid').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('answer 4');
    await page.getByText('1 of 2').waitFor();
    await page.waitForURL(`**span=${calls[3] ?? ''}**`);
    const marked = '[...(CSS.highlights.get("run-search") ?? [])].map(String)';
    await until('the answer is marked', () => page.evaluate<boolean>(`${marked}.includes('Answer 4')`));
    await page.keyboard.press('Escape');
    await page.keyboard.press('n');
    await page.waitForURL(`**span=${calls[4] ?? ''}**`);
    await page.getByText('2 of 2').waitFor();
    t.same(complaints, []);
  });

  await t.test('the panel is resized by keyboard, fills the window and has a URL', async (t) => {
    const { trace } = await talk(pages, 2);
    const { page, complaints } = await pages.permit(`/traces/${trace}`);
    const panel = page.getByRole('group', { name: 'Conversation' });
    await panel.waitFor();
    const width = async (): Promise<number> => (await panel.boundingBox())?.width ?? 0;
    const half = await width();
    const tree = (await page.getByRole('treegrid').boundingBox())?.width ?? 0;
    t.ok(Math.abs(half - tree) < 4, 'half and half');
    const handle = page.getByRole('separator', { name: 'Width of the tree' });
    await handle.focus();
    for (let at = 0; at < 5; at += 1) await page.keyboard.press('ArrowLeft');
    t.equal(await handle.getAttribute('aria-valuenow'), '40');
    const wider = await width();
    t.ok(wider > half);
    await page.reload();
    await panel.waitFor();
    t.equal(await width(), wider, 'the browser remembers it');
    const box = await handle.boundingBox();
    if (!box) throw new Error('no handle');
    await page.mouse.move(box.x + 5, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + 205, box.y + 60);
    await page.mouse.up();
    t.ok((await width()) < half, 'dragged');

    await page.keyboard.press('f');
    await page.waitForURL('**full=1**');
    t.equal(await page.getByRole('navigation', { name: 'Pages' }).isVisible(), false);
    t.ok((await width()) > 1200);
    const other = await pages.permit(page.url().slice(pages.url.length));
    await other.page.getByText('Answer 2.', { exact: true }).waitFor();
    t.equal(await other.page.getByRole('treegrid').count(), 0);
    await page.keyboard.press('Escape');
    await page.getByRole('treegrid').waitFor();
    t.equal(await page.getByRole('navigation', { name: 'Pages' }).isVisible(), true);
    t.same(complaints, []);
  });

  await t.test('shows embedded pictures and sounds, metadata, and base64 as a chip', async (t) => {
    const trace = randomUUID();
    const content = [
      { type: 'text', text: 'What is this?' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
      { type: 'image_url', image_url: { url: 'https://evil.example/x.png' } },
      { type: 'input_audio', input_audio: { data: wav(), format: 'wav' } },
    ];
    const span = aSpan(trace, {
      input_data: { messages: [{ role: 'user', content }] },
      output_data: { role: 'assistant', tool_calls: [{ function: { name: 'store', arguments: LONG_JSON } }] },
      metadata: { nested: '{"inner":[1,2]}', file: Buffer.from(LETTERS).toString('base64').repeat(20) },
    });
    const header = {
      trace_id: trace,
      agent: 'eyes',
      status: 'completed',
      started_at: '2026-11-03T08:15:30.250Z',
      ended_at: '2026-11-03T08:15:31.5Z',
      metadata: { tier: 'gold', build: { sha: 'abc' } },
    };
    await pages.api.call('POST', '/traces/batch', { json: { traces: [{ trace: header, spans: [span] }] } });
    const { page, complaints } = await pages.permit(`/traces/${trace}`);
    const picture = page.getByRole('img', { name: 'Embedded image' });
    await picture.waitFor();
    await until('the image is decoded', () =>
      page.evaluate<boolean>('document.querySelector("main img").naturalWidth === 1'),
    );
    t.equal(await picture.count(), 1);
    await page.getByText('https://evil.example/x.png (not embedded, so not loaded)').waitFor();
    const sound = page.locator('audio');
    await sound.waitFor();
    await until('the sound is decoded', () =>
      page.evaluate<boolean>('document.querySelector("audio").duration > 0'),
    );
    await page.getByText('"sentence":').waitFor();
    await page.getByText('tier: gold').waitFor();
    await page.getByRole('button', { name: 'Show all 2' }).click();
    await page.getByRole('dialog').getByText('"sha"').waitFor();
    await page.keyboard.press('Escape');

    await page.getByRole('tab', { name: 'Span', exact: true }).click();
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.getByText(/^base64 · \d/).waitFor();
    await page.getByRole('button', { name: 'Parse JSON in nested' }).click();
    await page.getByText('"inner":').waitFor();
    t.same(complaints, [], 'nothing is loaded from elsewhere');
  });

  await t.test('a failed span shows its error first, a span without payload the run', async (t) => {
    const trace = randomUUID();
    const root = aSpan(trace, {
      type: 'agent',
      name: 'root',
      input_data: undefined,
      output_data: undefined,
      metadata: undefined,
    });
    const parent = root['span_id'] as string;
    const bad = aSpan(trace, {
      type: 'tool',
      name: 'search',
      parent_span_id: parent,
      status: 'failed',
      error_message: 'No such index',
    });
    const header = {
      trace_id: trace,
      agent: 'asker',
      status: 'failed',
      error_message: 'No such index',
      started_at: '2026-11-03T08:15:30.250Z',
      ended_at: '2026-11-03T08:15:31.5Z',
    };
    const spans = [root, aSpan(trace, { parent_span_id: parent }), bad];
    await pages.api.call('POST', '/traces/batch', { json: { traces: [{ trace: header, spans }] } });
    const { page } = await pages.permit(`/traces/${trace}`);
    const step = page.getByRole('group', { name: 'Tool: search' });
    await step.getByText('No such index').waitFor();
    t.equal(await page.getByRole('group', { name: 'Conversation' }).getByText('No such index').count(), 1);
    await step.getByRole('link', { name: 'search' }).click();
    const panel = page.getByRole('region', { name: 'Span' });
    const error = await panel.getByLabel('Error').boundingBox();
    const input = await panel.getByRole('heading', { name: 'Input' }).boundingBox();
    t.ok((error?.y ?? Infinity) < (input?.y ?? 0), 'above the input');
    await page.goto(`${pages.url}/traces/${trace}?span=${parent}`);
    await page.getByText('Question and answer of the run:').waitFor();
    await panel.getByText('Because of Rayleigh scattering.').waitFor();
  });

  await t.test('deep trees scroll sideways, and every view is accessible', async (t) => {
    const trace = randomUUID();
    const spans: JsonObject[] = [];
    for (let at = 0; at < 60; at += 1)
      spans.push(
        aSpan(trace, {
          name: `level ${String(at)}`,
          type: at === 59 ? 'llm' : 'custom',
          parent_span_id: spans.at(-1)?.['span_id'] ?? null,
        }),
      );
    const header = {
      trace_id: trace,
      agent: 'digger',
      status: 'completed',
      started_at: '2026-11-03T08:15:30.250Z',
      ended_at: '2026-11-03T08:15:31.5Z',
    };
    await pages.api.call('POST', '/traces/batch', { json: { traces: [{ trace: header, spans }] } });
    const last = spans.at(-1)?.['span_id'] as string;
    const opened = await pages.permit(`/traces/${trace}?span=${last}`);
    const name = opened.page.getByRole('treegrid').getByText('level 59');
    await name.waitFor();
    const [box, grid] = [await name.boundingBox(), await opened.page.getByRole('treegrid').boundingBox()];
    if (!box || !grid) throw new Error('not shown');
    t.ok(box.x > grid.x && box.x + box.width < grid.x + grid.width / 2, 'the name is in view');
    t.ok(box.width > 40, 'and readable');
    await opened.page.goto(`${pages.url}/traces/${trace}`);
    const row = opened.page.getByRole('treegrid').getByText('level 15', { exact: true });
    await row.waitFor();
    const seen = await row.boundingBox();
    t.ok(seen && seen.x + seen.width < grid.x + grid.width / 2, 'also of rows below the selected one');
    const talked = await talk(pages, 3);
    const paths = [
      `/traces/${trace}?span=${last}`,
      `/traces/${trace}?full=1`,
      `/traces/${talked.trace}`,
      `/traces/${talked.trace}?span=${talked.calls[2] ?? ''}`,
      `/traces/${talked.trace}?tab=deliveries`,
    ];
    await lookRight(t, opened, paths, { narrow: true });
  });
});

/** A picture of one pixel. */
const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const LETTERS = 'The quick brown fox jumps over the lazy dog 0123456789';
const LONG_JSON = JSON.stringify({ sentence: LETTERS.repeat(4) });

/** A tenth of a second of silence. */
function wav(): string {
  const samples = 800;
  const bytes = Buffer.alloc(44 + samples, 128);
  bytes.write('RIFF');
  bytes.writeUInt32LE(36 + samples, 4);
  bytes.write('WAVEfmt ', 8);
  bytes.writeUInt32LE(16, 16);
  bytes.set([1, 0, 1, 0], 20);
  bytes.writeUInt32LE(8000, 24);
  bytes.writeUInt32LE(8000, 28);
  bytes.set([1, 0, 8, 0], 32);
  bytes.write('data', 36);
  bytes.writeUInt32LE(samples, 40);
  return bytes.toString('base64');
}

/** A run of calls that each repeat the conversation so far. */
async function talk(
  { api }: TestPages,
  turns: number,
): Promise<{ readonly trace: string; readonly root: string; readonly calls: readonly string[] }> {
  const trace = randomUUID();
  const start = Date.parse('2026-11-03T08:15:30Z');
  const at = (ms: number) => new Date(start + ms).toISOString();
  const root = aSpan(trace, {
    type: 'agent',
    name: 'chat',
    started_at: at(0),
    ended_at: at(100_000),
    input_data: { question: 'Question 1?' },
    output_data: { answer: `Answer ${String(turns)}.` },
  });
  const history: JsonObject[] = [];
  const calls = Array.from({ length: turns }, (_, index) => {
    const turn = String(index + 1);
    history.push({ role: 'user', content: `Question ${turn}?` });
    const output = { role: 'assistant', content: `Answer ${turn}.` };
    const call = aSpan(trace, {
      name: 'reply',
      parent_span_id: root['span_id'] as string,
      started_at: at((index + 1) * 1000),
      ended_at: at((index + 1) * 1000 + 500),
      input_data: { messages: [...history] },
      output_data: output,
    });
    history.push(output);
    return call;
  });
  const header = {
    trace_id: trace,
    agent: 'talker',
    status: 'completed',
    started_at: at(0),
    ended_at: at(100_000),
  };
  const json = { traces: [{ trace: header, spans: [root, ...calls] }] };
  const { status, body } = await api.call('POST', '/traces/batch', { json });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return {
    trace,
    root: root['span_id'] as string,
    calls: calls.map((call) => call['span_id'] as string),
  };
}
