import { randomUUID } from 'node:crypto';
import t from 'tap';
import type { JsonObject } from '../../src/signal/attributes.js';
import { aSpan } from '../support/trace-batch.js';
import { lookRight, startPages, type TestPages } from '../support/ui.js';

/** A run of the agent `writer` with a model call that returns `answer`, and tools. @returns its id */
async function aRun(
  { api }: TestPages,
  hour: number,
  answer: string,
  tools: readonly string[],
): Promise<string> {
  const id = randomUUID();
  const at = (second: number): string => new Date(Date.UTC(2026, 10, 3, hour, 0, second)).toISOString();
  const none = {
    cost_usd: undefined,
    input_tokens: undefined,
    output_tokens: undefined,
    total_tokens: undefined,
  };
  const root = aSpan(id, { type: 'agent', name: 'writer', started_at: at(0), ended_at: at(200), ...none });
  const below = (name: string, second: number, more: JsonObject): JsonObject =>
    aSpan(id, {
      name,
      parent_span_id: root['span_id'] as string,
      started_at: at(second),
      ended_at: at(second + 1),
      ...more,
    });
  const spans = [
    root,
    below('think', 1, { output_data: { content: answer } }),
    ...tools.map((name, index) => below(name, index + 3, { type: 'tool' })),
  ];
  const trace = { trace_id: id, agent: 'writer', status: 'completed', started_at: at(0), ended_at: at(200) };
  const { status, body } = await api.call('POST', '/traces/batch', { json: { traces: [{ trace, spans }] } });
  if (status !== 200 || !JSON.stringify(body).includes('"rejected":0')) throw new Error(JSON.stringify(body));
  return id;
}

void t.test('comparing two runs', async (t) => {
  const pages = await startPages(t);
  const many = (name: string): string[] => Array.from({ length: 90 }, () => name);
  const first = await aRun(pages, 8, 'The sky is blue.', ['search', ...many('read')]);
  const second = await aRun(pages, 9, 'The sky is very blue.', ['search', 'translate', ...many('read')]);

  await t.test('opens the previous run of the agent and the first difference', async (t) => {
    const { page, complaints } = await pages.permit(`/traces/${second}`);
    await page.getByRole('link', { name: 'Compare' }).click();
    await page.waitForURL(`**/compare/runs?a=${first}&b=${second}`);
    const grid = page.getByRole('treegrid');
    await grid.waitFor();
    t.equal(await grid.getAttribute('aria-rowcount'), '95');
    t.match(
      await page.locator('main').textContent(),
      /They first differ at think: output differs\. 92 spans the same, 1 changed, 0 only in A, 1 only in B/,
    );
    const panel = page.getByRole('region', { name: 'Difference' });
    await panel.locator('ins', { hasText: 'very' }).waitFor();
    t.equal(await panel.locator('del').count(), 0);
    await page.keyboard.press('n');
    await panel.getByText('Only B has this step.').waitFor();
    t.match(page.url(), 'span=');
    const added = grid.getByRole('row', { selected: true });
    t.match(await added.textContent(), /Only in B.*translate/);
    await page.getByLabel('Only differences (2)').check();
    await page.waitForURL('**only=1**');
    t.equal(
      await grid.getAttribute('aria-rowcount'),
      '4',
      'the head, two differences and the root above them',
    );
    t.same(complaints, []);
  });

  await t.test('a link restores the comparison, and swapping inverts differences', async (t) => {
    const { page } = await pages.permit(`/compare/runs?a=${first}&b=${second}`);
    const stats = page.getByRole('table', { name: 'Figures of both runs' });
    t.match(await stats.getByRole('row').last().textContent(), '+$0.00125');
    await page.getByRole('button', { name: 'Swap' }).click();
    t.match(await stats.getByRole('row').last().textContent(), '−$0.00125');
  });

  await t.test('runs can be selected by hand, also without a previous run', async (t) => {
    const { page } = await pages.permit(`/compare/runs?a=previous&b=${first}`);
    await page.getByText('This agent has no earlier run').waitFor();
    const picker = page.getByRole('region', { name: 'Run A' });
    await picker.getByLabel('Run A: id or link').fill('last one');
    await page.keyboard.press('Enter');
    t.match(await picker.getByRole('alert').textContent(), 'Not a run id');
    await picker.getByLabel('Run A: id or link').fill(`${pages.url}/traces/${second}?span=x`);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/compare/runs?a=${second}&b=${first}`);
    await page.getByRole('treegrid').waitFor();

    await page.goto(`${pages.url}/compare/runs?b=${second}`);
    await page.getByRole('region', { name: 'Run A' }).getByRole('button', { name: '2026-11-03' }).click();
    await page.waitForURL(`**/compare/runs?a=${first}&b=${second}`);
    await page.getByRole('treegrid').waitFor();
    await page.goto(`${pages.url}/compare/runs?a=${randomUUID()}&b=${second}`);
    await page.getByText('One of these runs was not found').waitFor();
    t.pass();
  });

  await t.test('axe finds no problems, and nothing overflows the window', async (t) => {
    const paths = [`/compare/runs?a=${first}&b=${second}`, `/compare/runs?b=${second}`, '/compare/runs'];
    await lookRight(t, await pages.permit('/runs'), paths, { narrow: true });
  });
});
