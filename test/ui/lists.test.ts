import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import t from 'tap';
import type { ApiCaller } from '../support/api-caller.js';
import { accessibilityProblems } from '../support/browser.js';
import { anItem, aSpan } from '../support/trace-batch.js';
import { lookRight, ODD_NAME, startPages } from '../support/ui.js';

const MINUTE = 60_000;

/** Runs of two agents, one failing occasionally, in conversations of two users with two prompt versions. */
async function fill(api: ApiCaller): Promise<void> {
  for (const [version, template_text] of [
    [1, 'Answer briefly.\nBe kind.'],
    [2, 'Answer at length.\nBe kind.'],
  ] as const) {
    const json = { name: 'support/answer', version, template_text };
    await api.call('POST', '/dashboard/prompts/', { json });
  }
  const json = { name: ODD_NAME, version: 1, template_text: 'Hello.' };
  await api.call('POST', '/dashboard/prompts/', { json });
  const items = Array.from({ length: 24 }, (_, i) => {
    const started_at = new Date(Date.now() - (i + 1) * 7 * MINUTE).toISOString();
    const isBad = i % 6 === 0;
    const { trace } = anItem({
      trace: {
        agent: i % 3 === 0 ? 'researcher' : 'support',
        outcome: isBad ? undefined : 'The customer got the answer that was asked for.',
        total_tokens: 112_345 + i,
        status: isBad ? 'failed' : 'completed',
        error_message: isBad ? 'The tool did not answer.' : undefined,
        started_at,
        ended_at: undefined,
        duration_ms: 1000 + i * 100,
        total_cost_usd: 0.01 + i / 1000,
        metadata: {
          session_id: i === 23 ? 'a%2Fb/c' : `chat ${String(i % 4)}`,
          user_id: i % 4 === 1 ? 'ada@example.com' : 'bob',
        },
      },
    });
    const id = trace['trace_id'] as string;
    const model = i === 5 ? 'model-rare' : 'in-house-model-of-november-2026';
    const spans = [
      aSpan(id, {
        started_at,
        ended_at: undefined,
        model,
        ...(i % 8 === 7 ? { cost_usd: undefined } : {}),
        input_data: { messages: [{ role: 'user', content: `Question ${String(i)}, please` }] },
        output_data: { role: 'assistant', content: `Answer ${String(i)} to it` },
      }),
    ];
    return { trace, spans };
  });
  await api.call('POST', '/traces/batch', { json: { traces: items } });
  for (const [i, { trace }] of items.entries()) {
    const json = {
      prompt_name: 'support/answer',
      prompt_version: 1 + (i % 2),
      trace_id: trace['trace_id'],
    };
    await api.call('POST', '/dashboard/prompts/usage', { json });
  }
}

/** What a search of runs answers. */
interface FoundPage {
  items: readonly unknown[];
  readonly next_cursor: string | null;
}

void t.test('lists, conversations, prompts, models and comparisons', async (t) => {
  const { api, permit, openUnknown } = await startPages(t);
  await fill(api);

  await t.test('finds a conversation by its user and shows it', async (t) => {
    const { page, complaints } = await permit('/sessions');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByLabel('User', { exact: true }).fill('ADA');
    await page.getByRole('option', { name: 'ada@example.com' }).waitFor();
    t.same(await accessibilityProblems(page), []);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/sessions?user=ada%40example.com');
    await page.getByText('1–1 of 1 session').waitFor();
    await page.getByRole('link', { name: 'chat 1' }).click();
    await page.getByRole('heading', { name: 'chat 1' }).waitFor();
    const steps = page.getByRole('list', { name: 'Conversation' });
    await steps.getByText('Question 21, please').waitFor();
    await steps.getByText('Answer 21 to it').waitFor();
    const order = await steps.getByText(/Question \d+/).allTextContents();
    t.match(order[0], 'Question 21', 'oldest first');
    await page.getByRole('link', { name: 'ada@example.com' }).click();
    await page.getByRole('table', { name: 'Sessions' }).waitFor();
    t.same(complaints, []);
    await page.goto(new URL(`/sessions/${encodeURIComponent('a%2Fb/c')}`, page.url()).href);
    await page.getByRole('heading', { name: 'a%2Fb/c' }).waitFor();
    await steps.getByText('Question 23, please').waitFor();
  });

  await t.test('compares two versions of a prompt and finds their runs', async (t) => {
    const { page, complaints } = await permit('/prompts');
    await page.getByRole('link', { name: 'support/answer' }).click();
    await page.getByRole('heading', { name: 'Compare v1 → v2' }).waitFor();
    t.match(await page.getByText(/Of 12 runs with v2 and 12 runs with v1/).textContent(), 'fewer than 30');
    const diff = page.locator('pre[aria-label="Prompt text"]');
    t.match(await diff.textContent(), 'briefly');
    t.match(await diff.textContent(), 'at length');
    await page.getByLabel('From').selectOption('2');
    await page.getByText('The text is identical in both versions.').waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Compare v1 → v2' }).waitFor();
    await page.getByRole('table', { name: 'Versions' }).getByRole('link', { name: 'v2' }).click();
    await page.getByText('12 runs; no total').waitFor();
    t.equal(new URL(page.url()).searchParams.get('pv'), '2');
    t.same(complaints, []);
  });

  await t.test('exports the filtered runs', async (t) => {
    const { page } = await permit('/runs');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByLabel('Filter by').selectOption('model');
    await page.getByLabel('Model', { exact: true }).fill('model-rare');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Model: model-rare' }).waitFor();
    const table = page.getByRole('table', { name: 'Runs' });
    await table.getByText('Question 5, please').waitFor();
    await page.getByText('Export').click();
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    t.equal(saved.suggestedFilename(), 'runs.csv');
    const lines = (await readFile(await saved.path(), 'utf8')).trim().split('\r\n');
    t.equal(lines.length, 2, 'header and one run');
    t.match(lines[0], 'trace_id,agent_id');
    await page.getByText('Views', { exact: true }).click();
    await page.getByLabel('View name').fill('rare ones');
    await page.keyboard.press('Enter');
    const views = page.getByRole('list', { name: 'Saved views' });
    await views.getByRole('link', { name: 'rare ones' }).waitFor();
    t.same(await accessibilityProblems(page), []);
    await page.getByText('Views', { exact: true }).click();
    await page.getByRole('button', { name: 'Model: model-rare' }).click();
    await page.getByText('1–24 of 24 runs').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('rare');
    await page.getByRole('option', { name: 'rare ones view' }).click();
    await page.waitForURL('**/runs?model=model-rare');
    await page.getByText('Views', { exact: true }).click();
    await page.getByRole('button', { name: 'Remove the view rare ones' }).click();
    await page.getByText('No saved views yet.').waitFor();
  });

  await t.test('sorts, selects, previews and compares runs', async (t) => {
    const { page, complaints } = await permit('/runs');
    const table = page.getByRole('table', { name: 'Runs' });
    await table.getByText('Question 0, please').waitFor();
    await page.getByRole('button', { name: 'Duration' }).click();
    await page.waitForURL('**/runs?sort=-duration');
    await table.locator('tbody tr').first().getByText('Question 23, please').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press(' ');
    const peek = page.getByRole('complementary', { name: 'Run preview' });
    await peek.getByText('Question 23, please').waitFor();
    t.same(await accessibilityProblems(page), []);
    await page.keyboard.press('Escape');
    await peek.waitFor({ state: 'detached' });
    await page.keyboard.press('x');
    await page.keyboard.press('j');
    await page.keyboard.press('x');
    await page.getByText('2 selected').waitFor();
    const compare = page.getByRole('link', { name: 'Compare' });
    t.match(await compare.getAttribute('href'), '/compare/runs?a=');
    await page.getByText('Columns').click();
    await page.getByRole('group', { name: 'Columns' }).getByLabel('Spans', { exact: true }).uncheck();
    await table.getByRole('columnheader', { name: 'Spans' }).waitFor({ state: 'detached' });
    const columns = page.getByRole('group', { name: 'Columns' });
    await columns.getByLabel('User', { exact: true }).check();
    await columns.getByRole('button', { name: 'Move User left' }).click();
    await columns.getByRole('button', { name: 'Make Input wider' }).click();
    const arranged = 'started_at,agent,status,outcome,input:200,duration,user,cost';
    await page.waitForURL((url) => url.searchParams.get('cols') === arranged);
    const head = await table.getByRole('columnheader').allTextContents();
    t.same(head.slice(-3), ['Duration ', 'User', 'Cost ']);
    t.same(await accessibilityProblems(page), []);
    await page.keyboard.press('Escape');
    await columns.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Views' }).click();
    await page.getByRole('group', { name: 'Views' }).waitFor();
    await page.getByRole('heading', { name: 'Runs', exact: true }).click();
    await page.getByRole('group', { name: 'Views' }).waitFor({ state: 'detached' });
    await page.getByLabel('Select all rows on this page').check();
    await page.getByText('24 selected').waitFor();
    await page.getByRole('button', { name: 'Clear' }).click();
    await page.getByText('24 selected').waitFor({ state: 'detached' });

    await page.goto(new URL('/agents', page.url()).href);
    await page.getByLabel('Select researcher').check();
    await page.getByLabel('Select support').check();
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.getByRole('rowheader', { name: 'p95 duration' }).waitFor();
    t.same(complaints, []);
  });

  await t.test('estimates the cost with another model and lists unknown parts', async (t) => {
    const { page, complaints } = await permit('/models');
    const other = page.getByLabel('with', { exact: true });
    await other.fill('gpt-4o-mini');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/models?what=in-house-model-of-november-2026%3Agpt-4o-mini');
    const row = page
      .getByRole('row')
      .filter({ has: page.getByRole('link', { name: 'in-house-model-of-november-2026' }) });
    // 23 calls of 100 and 20 tokens, 3 of them without an actual cost.
    await row.getByText('~$0.000621').waitFor();
    t.match(await row.textContent(), '−97.8%');
    const thought = page.getByRole('list', { name: 'Estimates' });
    t.match(
      await thought.textContent(),
      /: \$0\.025 → ~\$0\.00054 \(−97\.8%\).*Price rule: prices\.yaml:\d+ gpt-4o-mini.*3 calls of 23 have no actual cost/,
    );
    await page.getByText('Total: $0.025 actual, about $0.00054 estimated; difference: −97.8%.').waitFor();
    await other.fill('unheard-of');
    await page.keyboard.press('Enter');
    await thought.getByText('Not in the price list.').waitFor();
    t.equal(await row.getByText('~$').count(), 0, 'no invented price');
    await page.goBack();
    await row.getByText('~$0.000621').waitFor();
    await page.getByRole('button', { name: 'Remove in-house-model-of-november-2026 as gpt-4o-mini' }).click();
    await page.getByRole('columnheader', { name: 'Estimate' }).waitFor({ state: 'detached' });
    t.same(complaints, []);
  });

  await t.test('the first page lists problems', async (t) => {
    const { page, complaints } = await permit('/');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByText('The tool did not answer.').first().waitFor();
    await page.getByText('3 calls without a cost').waitFor();
    t.same(complaints, []);
  });

  await t.test('two tabs follow runs with one stream and without layout shifts', async (t) => {
    const { page: first, context, complaints } = await permit('/models');
    const streams: string[] = [];
    context.on('request', (request) => {
      if (request.url().includes('/dashboard/stream')) streams.push(request.url());
    });
    await first.goto(new URL('/runs?user=newcomer', first.url()).href);
    const come = async (
      trace_id: string,
      some: { readonly status: string; readonly duration_ms?: number | undefined },
    ) => {
      const started_at = new Date(Date.now() - MINUTE).toISOString();
      const item = anItem({
        trace: {
          trace_id,
          agent: `newcomer ${'with a long name '.repeat(6)}`,
          metadata: { user_id: 'newcomer' },
          started_at,
          ended_at: undefined,
          ...some,
        },
        spans: 0,
      });
      t.equal((await api.call('POST', '/traces/batch', { json: { traces: [item] } })).status, 200);
    };
    const isDone = { status: 'completed', duration_ms: 4200 };
    const [one = '', two = '', three = ''] = Array.from({ length: 3 }, () => randomUUID());
    await first.getByText('No runs match').waitFor();
    await come(one, { status: 'running', duration_ms: undefined });
    const row = first.getByRole('table', { name: 'Runs' }).locator('tbody tr');
    await row.getByText(/1 m \d\d s…/).waitFor();
    const fits = `(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth)(document.querySelector('table[aria-label=Runs]').parentElement)`;
    t.ok(await first.evaluate(fits), 'all columns fit on a screen 1280 px wide');
    const second = await context.newPage();
    await second.goto(new URL('/runs?user=newcomer', first.url()).href);
    await second.getByText('1–1 of 1 run').waitFor();
    await come(two, isDone);
    for (const page of [first, second]) await page.getByRole('button', { name: '1 new run' }).waitFor();
    t.equal(await row.count(), 1, 'waits to be shown');
    await come(one, isDone);
    await row.getByText('4.2 s').waitFor();
    t.same(await accessibilityProblems(first), []);
    t.equal(streams.length, 1, 'no other tab has a stream');
    await first.close();
    await come(three, isDone);
    await second.getByRole('button', { name: '2 new runs' }).waitFor();
    t.equal(streams.length, 2, 'the other tab took over');
    await second.keyboard.press('.');
    await second.getByText('1–3 of 3 runs').waitFor();
    await second.getByRole('button', { name: /new run/ }).waitFor({ state: 'detached' });
    t.same(complaints, []);
  });

  await t.test('axe finds no problems in both themes, and nothing overflows the window', async (t) => {
    const agents = await api.get<readonly { readonly id: string }[]>('/agents');
    const paths = [
      '/',
      '/runs',
      '/runs?model=none',
      '/agents',
      '/sessions',
      '/sessions?user=nobody',
      '/sessions/chat%201',
      '/sessions/none',
      '/users',
      '/users?agent=nobody',
      `/models?what=${encodeURIComponent(`in-house-model-of-november-2026:gpt-4o-mini,model-rare:${encodeURIComponent(ODD_NAME)}`)}`,
      '/prompts',
      '/prompts/support%2Fanswer',
      `/prompts/${encodeURIComponent(ODD_NAME)}`,
      `/compare/agents?a=${agents[0]?.id ?? ''}&b=${agents[1]?.id ?? ''}`,
    ];
    await lookRight(t, await permit('/agents'), paths);
  });

  await t.test('finds an agent for an alert beyond the offered ones', async (t) => {
    const items = Array.from({ length: 101 }, (_, i) =>
      anItem({ trace: { agent: `clerk-${String(i)}` }, spans: 0 }),
    );
    for (const some of [items.slice(0, 60), items.slice(60)]) await api.send(some);
    const { page, complaints } = await permit('/alerts/new');
    const agent = page.getByLabel('Agent', { exact: true });
    await agent.fill('CLERK-100');
    await page.getByRole('option', { name: 'clerk-100' }).waitFor();
    t.same(await accessibilityProblems(page), []);
    await page.keyboard.press('Enter');
    await page.waitForURL(/agent=[0-9a-f-]{36}/);
    await agent.fill('nobody');
    await page.getByText('No agent with this name').waitFor();
    await page.getByLabel('Threshold (%)').focus();
    await page.getByPlaceholder('clerk-100').waitFor();
    t.equal(await agent.inputValue(), 'clerk-100');
    t.same(await accessibilityProblems(page), []);
    t.same(complaints, []);
  });

  await t.test('exports all pages of a list, with the columns of the page in the link', async (t) => {
    const { page, complaints } = await permit('/agents?cols=name,total_runs:200,total_cost');
    const { length } = await api.get<readonly object[]>('/agents');
    await page.getByText(`1–50 of ${length} agents`).waitFor();
    const table = page.getByRole('table', { name: 'Agents' });
    t.same((await table.getByRole('columnheader').allTextContents()).slice(1), ['Agent ', 'Runs ', 'Cost ']);
    await page.getByRole('button', { name: 'Export' }).click();
    t.same(await accessibilityProblems(page), []);
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    t.equal(saved.suggestedFilename(), 'agents.csv');
    const lines = (await readFile(await saved.path(), 'utf8')).trim().split('\r\n');
    t.equal(lines.length, 1 + length, 'header and all agents');
    t.equal(new Set(lines).size, 1 + length);
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('combobox', { name: 'Environment' }).fill('nowhere');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'No agents match' }).waitFor();
    t.same(complaints, []);
  });

  await t.test('readers have no button to remove views', async (t) => {
    const json = { name: 'kept', path: '/runs?q=kept' };
    t.equal((await api.call('PUT', `/dashboard/views/${randomUUID()}`, { json })).status, 200);
    const { key } = await api.createKey(['read']);
    const { page, complaints } = await openUnknown('/runs');
    await page.getByLabel('API key').fill(key);
    await page.keyboard.press('Enter');
    await page.getByText('Views', { exact: true }).click();
    await page.getByRole('link', { name: 'kept' }).waitFor();
    await page.getByText('Saving a view requires the manage scope').waitFor();
    t.equal(await page.getByRole('button', { name: 'Remove the view kept' }).count(), 0);
    t.same(complaints, []);
  });

  await t.test('finds a run by a sentence in the result of a tool', async (t) => {
    const { trace } = anItem({ trace: { agent: 'courier', metadata: { user_id: 'bob', plan: 'pro' } } });
    const id = trace['trace_id'] as string;
    const output_data = { note: 'The parcel waits at the harbour office until Friday.' };
    await api.send([{ trace, spans: [aSpan(id, { type: 'tool', name: 'track', output_data })] }]);
    const { page, complaints } = await permit('/runs');
    await page.getByRole('searchbox').fill('"waits at the harbour"');
    const found = page.getByRole('table', { name: 'Runs' }).getByRole('link', { name: /parcel waits at/ });
    await found.locator('mark').first().waitFor();
    await page.getByRole('status').getByText('1 run', { exact: true }).waitFor();
    await page.getByText('1 run in the last 4 years').waitFor();
    await found.click();
    await page.waitForURL(`**/traces/${id}?span=*`);
    await page.goto(new URL('/runs?meta=plan~%3DPR', page.url()).href);
    await page.getByRole('button', { name: 'Metadata plan contains PR' }).waitFor();
    await page.getByText('1–1 of 1 run').waitFor();
    t.same(complaints, []);
  });

  await t.test('a search that ran out of time goes on until it finds a run or is stopped', async (t) => {
    const { page, complaints } = await permit('/agents');
    const cursors = new Set<string | null>();
    let stopped: Promise<void> = Promise.resolve();
    // As of a store that is too large for one request: parts of ten runs, of which only the last has found some.
    await page.route(/dashboard\/traces\?.*query=/, async (route) => {
      const url = new URL(route.request().url());
      url.searchParams.set('page_size', '10');
      const isHeld = cursors.add(url.searchParams.get('cursor')).size === 2;
      const response = await route.fetch({ url: url.href });
      const json = (await response.json()) as FoundPage;
      if (json.next_cursor !== null) json.items = [];
      if (isHeld) await stopped;
      await route.fulfill({ response, json });
    });
    await page.goto(new URL('/runs?q=answer', page.url()).href);
    await page.getByRole('table', { name: 'Runs' }).waitFor();
    t.equal(cursors.size, 3);
    cursors.clear();
    let release: () => void = () => undefined;
    stopped = new Promise((resolve) => (release = resolve));
    await page.goto(new URL('/runs?q=please', page.url()).href);
    await page.getByRole('heading', { name: 'Searching…' }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    release();
    await page.getByRole('heading', { name: 'No runs found so far' }).waitFor();
    t.same(await accessibilityProblems(page), []);
    t.equal(cursors.size, 2);
    await page.getByRole('button', { name: 'Search further back' }).click();
    await page.getByRole('table', { name: 'Runs' }).waitFor();
    t.equal(cursors.size, 3);
    t.same(complaints, []);
  });
});
