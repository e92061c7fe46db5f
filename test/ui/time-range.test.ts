import t from 'tap';
import type { ApiCaller } from '../support/api-caller.js';
import { accessibilityProblems } from '../support/browser.js';
import { anItem, aSpan } from '../support/trace-batch.js';
import { lookRight, startPages } from '../support/ui.js';
import { until } from '../support/until.js';

const MINUTE = 60_000;

/** Runs every 7 minutes of two agents and users; those of one agent call a tool in vain. */
async function fill(api: ApiCaller): Promise<void> {
  const traces = Array.from({ length: 24 }, (_, i) => {
    const started_at = new Date(Date.now() - (i + 1) * 7 * MINUTE).toISOString();
    const isAda = i % 2 === 0;
    const { trace } = anItem({
      trace: {
        agent: isAda ? 'support' : 'researcher',
        started_at,
        ended_at: undefined,
        duration_ms: 1000,
        metadata: { session_id: isAda ? 'chat' : 'search', user_id: isAda ? 'ada@example.com' : 'bob' },
      },
    });
    const tool = { type: 'tool', name: 'look up', status: 'failed', duration_ms: 100 + i };
    const span = aSpan(trace['trace_id'] as string, {
      ...(isAda ? { model: 'a-model' } : tool),
      started_at,
      ended_at: undefined,
    });
    return { trace, spans: [span] };
  });
  await api.call('POST', '/traces/batch', { json: { traces } });
}

void t.test('time range, users and tools', async (t) => {
  const { api, permit } = await startPages(t);
  await fill(api);

  await t.test('carries one time range between pages', async (t) => {
    const { page, complaints } = await permit('/traces');
    const period = page.getByRole('combobox', { name: /^Period/ });
    await page.getByText('1–24 of 24 runs').waitFor();
    await period.selectOption('7d');
    await page.waitForURL('**/runs?range=7d');
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await pages.getByRole('link', { name: 'Models' }).click();
    await page.waitForURL('**/models?range=7d');
    await period.selectOption('30d');
    await pages.getByRole('link', { name: 'Agents' }).click();
    await page.getByRole('heading', { name: 'Agents' }).waitFor();
    await pages.getByRole('link', { name: 'Overview' }).click();
    await page.waitForURL('**/?range=30d');
    t.equal(await period.inputValue(), '30d', 'the default of one page is set on another one');

    await period.selectOption('Custom…');
    const form = page.getByRole('form', { name: 'Custom period' });
    await form.getByLabel('From').fill('2026-01-01T00:00');
    await form.getByLabel('To').fill('2025-12-31T00:00');
    t.ok(await form.getByRole('button', { name: 'Apply' }).isDisabled());
    await form.getByLabel('To').fill('2026-01-02T00:00');
    t.same(await accessibilityProblems(page), []);
    await form.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL((url) =>
      /^2026-01-01T.*Z\.\.2026-01-02T.*Z$/.test(url.searchParams.get('range') ?? ''),
    );
    await page.getByText('No failed runs in this period.').waitFor();
    await page.getByRole('button', { name: 'Zoom out' }).click();
    await page.waitForURL('**/?range=30d');
    t.same(complaints, []);
  });

  await t.test('names the bar under the pointer, opens its runs and zooms', async (t) => {
    const { page, complaints } = await permit('/?range=24h');
    const chart = page.getByRole('figure', { name: /^Runs/ });
    const plot = chart.locator('.u-over');
    await plot.waitFor();
    const box = await plot.boundingBox();
    if (!box) throw new Error('the chart is not visible');
    // The axis has whole hours.
    const hour = 60 * MINUTE;
    const [first, last] = [Math.floor((Date.now() - 24 * hour) / hour), Math.ceil(Date.now() / hour)];
    const x = (ms: number): number => box.x + (box.width * (ms / hour - first)) / (last - first);
    const bar = Math.floor((Date.now() - 60 * MINUTE) / (60 * MINUTE)) * 60 * MINUTE;
    await page.mouse.move(x(bar + 45 * MINUTE), box.y + box.height / 2);
    const name = new Date(bar).toISOString().slice(0, 16).replace('T', ' ');
    await chart.locator('figcaption').getByText(name).waitFor();
    const shown = await chart.getByRole('listitem').filter({ hasText: 'runs' }).locator('b').textContent();
    await page.mouse.down();
    await page.mouse.up();
    await page.getByRole('heading', { name: 'Runs', exact: true }).waitFor();
    t.ok(Number(shown?.trim()) > 0, 'the bar has runs');
    await page.getByText(`1–${shown?.trim() ?? ''} of ${shown?.trim() ?? ''} runs`).waitFor();
    await page.goBack();

    await plot.waitFor();
    await page.mouse.move(x(bar - 180 * MINUTE), box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(x(bar), box.y + box.height / 2, { steps: 4 });
    await page.mouse.up();
    await page.waitForURL((url) => (url.searchParams.get('range') ?? '').includes('..'));
    t.equal(new URL(page.url()).pathname, '/', 'a drag is not a click');
    await page.getByRole('button', { name: 'Zoom out' }).click();
    await page.waitForURL('**/?range=24h');
    t.same(complaints, []);
  });

  await t.test('finds a user by part of the id, with runs and sessions', async (t) => {
    const { page, complaints } = await permit('/users');
    await page.getByText('1–2 of 2 users').waitFor();
    await page.keyboard.press('/');
    await page.keyboard.type('ADA');
    await page.getByText('1–1 of 1 user').waitFor();
    const row = page.getByRole('table', { name: 'Users' }).getByRole('row').nth(1);
    t.match(
      await row.getByRole('link').first().getAttribute('href'),
      '/runs?kind=all&user=ada%40example.com&range=30d',
    );
    t.same(await accessibilityProblems(page), []);
    await row.getByRole('link').last().click();
    await page.waitForURL('**/sessions?user=ada%40example.com&range=30d');
    await page.getByText('1–1 of 1 session').waitFor();
    await page.getByRole('link', { name: 'chat' }).click();
    await page.getByRole('button', { name: 'Newest turn' }).click();
    const isShown = `(() => {
      const turns = [...document.querySelectorAll('ol[aria-label=Conversation] > li')];
      const { top, bottom } = turns.at(-1)?.getBoundingClientRect() ?? {};
      return turns.length === 12 && turns.slice(-3).every(({ textContent }) => textContent.includes('Rayleigh')) &&
        top >= 0 && bottom <= innerHeight;
    })()`;
    await until('the newest turn is in view', () => page.evaluate<boolean>(isShown));
    t.same(complaints, []);
  });

  await t.test('lists tools, and opens their runs', async (t) => {
    const { page, complaints } = await permit('/tools');
    const row = page.getByRole('table', { name: 'Tools' }).getByRole('row').nth(1);
    await row.getByText('look up').waitFor();
    t.match(await row.textContent(), '12 (100%)');
    t.same(await accessibilityProblems(page), []);
    await row.getByRole('link', { name: 'researcher' }).click();
    await page.waitForURL('**/tools?agent=*');
    await page.getByRole('button', { name: 'Agent: researcher' }).waitFor();
    await row.getByRole('link', { name: 'look up' }).click();
    await page.waitForURL('**/runs?span=look+up&type=tool&kind=all&range=7d');
    await page.getByText('12 runs; no total').waitFor();
    t.same(complaints, []);
  });

  await t.test('the tools look right in both themes and widths', async (t) => {
    await lookRight(t, await permit('/tools'), [
      '/tools',
      '/tools?range=2026-01-01T00:00:00Z..2026-01-02T00:00:00Z',
    ]);
  });
});
