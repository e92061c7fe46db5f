import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { JsonObject } from '../../src/signal/attributes.js';
import type { OpenPage } from '../support/browser.js';
import { aSpan } from '../support/trace-batch.js';
import { startPages, type TestPages } from '../support/ui.js';

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
});
