import { randomUUID } from 'node:crypto';
import t from 'tap';
import { packBatches } from '../../src/cli/demo/body.js';
import { Poster } from '../../src/cli/demo/poster.js';
import { history, readRecording } from '../../src/cli/demo/recording.js';
import { linkPrompts, setUp } from '../../src/cli/demo/set-up.js';
import { memoryIo } from '../support/memory-io.js';
import { lookRight, startPages } from '../support/ui.js';

/** Sends the last three days of the demo. */
async function play(url: string, key: string): Promise<void> {
  const recording = readRecording();
  const poster = new Poster({ url, key, keySource: 'the test' }, new AbortController().signal);
  await setUp(poster, memoryIo({}), recording.prompt, 'before');
  const plan = { key: randomUUID(), untilMs: Date.now(), days: 3, runsPerDay: 200 };
  for (const batch of packBatches([...history(recording, plan)].map(({ body }) => body))) {
    await poster.sendBatch(batch);
    await linkPrompts(poster, batch, recording.prompt);
  }
}

void t.test('the overview names what changed in the demo', async (t) => {
  const { url, key, permit } = await startPages(t);
  await play(url, key);
  const { page, complaints } = await permit('/');
  const regressions = page.getByRole('region', { name: 'Regressions' });
  const breakdown = page.getByRole('region', { name: 'Breakdown' });

  await t.test('a cost per run that rose, with the model that caused it, in two clicks', async (t) => {
    const item = regressions.getByRole('listitem').filter({ hasText: 'research-assistant' });
    t.match(await item.textContent(), /\$[\d.]+ per run, \$[\d.]+ before; [\d.]+K? tokens per run, /);
    await item.getByRole('link').click();
    await page.waitForURL('**/agents/*?range=24h');
    await page
      .getByText(/^\+[\d.]+% vs the previous period$/)
      .first()
      .waitFor();
    const model = breakdown.getByRole('row').filter({ hasText: 'gpt-5-mini' });
    t.match(await model.getByRole('cell').nth(2).textContent(), /^\$[\d.]+\+\d{2,}/, 'cost per call rose');
    const path = new URL(page.url()).pathname;
    await model.getByRole('link').click();
    await page.waitForURL((to) => to.pathname === '/runs' && to.searchParams.get('model') === 'gpt-5-mini');
    const query = new URL(page.url()).searchParams;
    t.same([query.get('range'), query.get('agent')], ['24h', path.split('/').at(-1)]);
    await page.goBack();
  });

  await t.test('a bar of an agent opens its runs, with range and agent kept', async (t) => {
    const plot = page.getByRole('figure', { name: /^Runs/ }).locator('.u-over');
    const box = await plot.boundingBox();
    if (!box) throw new Error('the chart is not visible');
    await plot.click({ position: { x: box.width * 0.8, y: box.height / 2 } });
    await page.waitForURL(
      (to) => to.pathname === '/runs' && (to.searchParams.get('range') ?? '').includes('..'),
    );
    t.match(new URL(page.url()).searchParams.get('agent'), /^[\da-f-]{36}$/);
  });

  await t.test('a prompt version that resolves less', async (t) => {
    await page.goto(url);
    const item = regressions.getByRole('listitem').filter({ hasText: 'support-triage' });
    t.match(await item.textContent(), /[\d.]+% successful, [\d.]+% before/);
    await item.getByRole('link').click();
    await page.getByRole('combobox', { name: 'Group by' }).selectOption('prompt_version');
    const success = async (version: string): Promise<number> => {
      const row = breakdown.getByRole('row').filter({ hasText: `support-reply ${version}` });
      return parseFloat((await row.getByRole('cell').nth(5).textContent()) ?? '');
    };
    const [old, current] = [await success('v2'), await success('v3')];
    t.ok(current < old, `${current} % of v3, ${old} % of v2`);
    await breakdown.getByRole('link', { name: 'support-reply v3' }).click();
    await page.waitForURL((to) => to.searchParams.get('prompt') === 'support-reply');
    t.match(new URL(page.url()).search, 'pv=3');
    t.same(complaints, []);
  });

  await t.test('pages that compare periods look right in both themes and widths', async (t) => {
    await page.goto(`${url}/agents?range=24h`);
    const agent = page.getByRole('link', { name: 'support-triage' });
    await page.getByText('points').first().waitFor();
    const path = `${(await agent.getAttribute('href')) ?? ''}&by=tag`;
    const opened = await permit('/');
    await lookRight(t, opened, ['/', '/agents?range=24h', path, '/models?range=24h'], { narrow: true });
  });
});
