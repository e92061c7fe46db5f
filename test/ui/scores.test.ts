import t from 'tap';
import { traceIdOf } from '../support/header-text.js';
import { anItem } from '../support/trace-batch.js';
import { accessibilityProblems } from '../support/browser.js';
import { startPages } from '../support/ui.js';

interface Listed {
  readonly items: readonly {
    readonly trace_id: string;
    readonly scores: readonly { readonly name: string; readonly mean: number | null }[];
  }[];
}

void t.test('rating runs in the browser', async (t) => {
  const { api, permit } = await startPages(t);
  const items = [0, 1, 2, 3].map((i) =>
    anItem({
      trace: {
        agent: 'helper',
        started_at: `2026-11-03T08:15:3${String(i)}Z`,
        ended_at: `2026-11-03T08:15:4${String(i)}Z`,
      },
    }),
  );
  await api.send(items);
  const ids = items.map(traceIdOf);
  const [oldest = '', , , newest = ''] = ids;
  for (const version of [1, 2]) {
    const prompt = { name: 'greeting', version, template_text: `v${String(version)}` };
    t.equal((await api.call('POST', '/dashboard/prompts/', { json: prompt })).status, 201);
  }
  for (const [i, trace_id] of ids.entries())
    await api.call('POST', '/dashboard/prompts/usage', {
      json: { prompt_name: 'greeting', prompt_version: i < 2 ? 1 : 2, trace_id },
    });
  const ratings = async () => {
    const listed = await api.get<Listed>('/dashboard/traces?scores=true&kind=all&order=asc');
    return listed.items.map(({ scores }) => scores.find(({ name }) => name === 'rating')?.mean ?? null);
  };
  const { page, complaints } = await permit(`/traces/${newest}`);
  const up = page.getByRole('button', { name: 'Rate the run up' });
  const down = page.getByRole('button', { name: 'Rate the run down' });

  await t.test('thumbs by mouse and keys; a change of mind replaces the rating', async (t) => {
    await up.click();
    await page.locator('main').getByText('rating: 1').first().waitFor();
    t.equal(await up.getAttribute('aria-pressed'), 'true');
    await page.keyboard.press('-');
    await page.locator('main').getByText('rating: 0').first().waitFor();
    t.equal(await up.getAttribute('aria-pressed'), 'false');
    t.same(await page.getByRole('dialog').count(), 0, 'the key does not explain missing values here');
    await page.keyboard.press('c');
    const dialog = page.getByRole('dialog', { name: 'Score the run' });
    await dialog.getByLabel('Comment').fill('Rude, and wrong.');
    t.same(await accessibilityProblems(page), []);
    await dialog.getByRole('button', { name: 'Save score' }).click();
    await dialog.waitFor({ state: 'detached' });
    const { scores } = await api.get<{ scores: readonly object[] }>(`/dashboard/traces/${newest}`);
    t.match(scores, [{ name: 'rating', value: 0, comment: 'Rude, and wrong.', source: 'user' }]);
    t.equal(scores.length, 1);
  });

  await t.test('the outcome and a span', async (t) => {
    await page.getByRole('button', { name: 'Edit success and outcome' }).click();
    const dialog = page.getByRole('dialog', { name: 'Success and outcome' });
    await dialog.getByLabel('Success', { exact: true }).selectOption('false');
    await dialog.getByLabel('Outcome', { exact: true }).fill('complained');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.locator('main').getByText('complained').first().waitFor();
    t.match(await api.get(`/dashboard/traces/${newest}`), { success: false, outcome: 'complained' });
    await page.goto(`${page.url()}?tab=span`);
    const other = await page.context().newPage();
    await other.goto(page.url());
    const tabs = [page, other].map((tab) => tab.getByRole('button', { name: 'Rate the span up' }));
    for (const button of tabs) await button.waitFor();
    await Promise.all(tabs.map(async (button) => button.click()));
    for (const tab of [page, other]) await tab.locator('main').getByText('rating: 1').first().waitFor();
    await other.close();
    const { scores } = await api.get<{ scores: readonly { span_id: string | null }[] }>(
      `/dashboard/traces/${newest}`,
    );
    t.equal(scores.filter(({ span_id }) => span_id !== null).length, 1, 'two tabs give one score');
    t.same(await accessibilityProblems(page), []);
  });

  await t.test('a review walks the unrated runs of a list', async (t) => {
    await page.goto(new URL('/runs?agent=&status=completed', page.url()).href);
    await page.getByRole('button', { name: 'Review' }).click();
    const bar = page.getByRole('toolbar', { name: 'Review' });
    await bar.getByText('3 unrated runs').waitFor();
    t.match(page.url(), ids[2]);
    await page.keyboard.press('+');
    await bar.getByText('2 unrated runs').waitFor();
    await page.keyboard.press(']');
    await page.waitForURL((url) => url.pathname.endsWith(ids[1] ?? ''));
    await bar.getByRole('button', { name: 'Next unrated run' }).click();
    await page.waitForURL((url) => url.pathname.endsWith(oldest));
    await page.locator('main').getByRole('button', { name: 'Rate the run down' }).waitFor();
    await page.keyboard.press('-');
    await bar.getByText('1 unrated run').waitFor();
    await bar.getByRole('button', { name: 'Previous unrated run' }).click();
    await page.waitForURL((url) => url.pathname.endsWith(ids[1] ?? ''));
    await down.click();
    await bar.getByText('0 unrated runs').waitFor();
    t.same(await accessibilityProblems(page), []);
    await bar.getByRole('link', { name: 'End review' }).click();
    await page.waitForURL(
      (url) => url.pathname === '/runs' && url.searchParams.get('status') === 'completed',
    );
    t.strictSame(await ratings(), [0, 0, 1, 0.5]);
  });

  await t.test('badly rated runs are found, with a column of scores', async (t) => {
    await page.goto(new URL('/runs?score=rating%3C0.5&cols=started_at,agent,status,scores', page.url()).href);
    const rows = page.getByRole('table', { name: 'Runs' }).locator('tbody tr');
    await rows.first().getByText('rating 0').waitFor();
    t.equal(await rows.count(), 3);
    await page.getByRole('button', { name: /Score: rating<0.5/ }).waitFor();
    await page.goto(new URL('/runs?score=helpful', page.url()).href);
    await page.getByRole('heading', { name: 'No runs match' }).waitFor();
  });

  await t.test('two versions of a prompt and an agent by score', async (t) => {
    await page.goto(new URL('/prompts/greeting', page.url()).href);
    const figures = page.getByRole('region', { name: 'Compare versions' });
    await figures.getByText('Mean rating').waitFor();
    t.match(await figures.textContent(), /0\.66673 scores; 0 of 2 scores with v1/);
    const [agent] = await api.get<{ id: string }[]>('/agents');
    await page.goto(new URL(`/agents/${agent?.id ?? ''}?range=90d`, page.url()).href);
    const table = page.getByRole('table', { name: 'Scores' });
    t.match(await table.textContent(), /rating/);
    t.same(await accessibilityProblems(page), []);
  });
  t.same(complaints, []);
});
