import { randomUUID } from 'node:crypto';
import t from 'tap';
import { accessibilityProblems } from '../support/browser.js';
import { aSpan as anOtlpSpan, jsonOf, tracesOf } from '../support/otlp-requests.js';
import { anItem, aSpan } from '../support/trace-batch.js';
import { lookRight, ODD_NAME, startPages } from '../support/ui.js';

void t.test('a browser from its first login to being thrown out', async (t) => {
  const { api, key, visit, visitUnknown } = await startPages(t);

  await t.test(
    'a key that is wrong, and one that is right; then an empty store shows how to fill it',
    async (t) => {
      const { page, complaints } = await visitUnknown('/agents');
      await page.getByLabel('API key').fill('jd_wrong');
      await page.keyboard.press('Enter');
      t.match(await page.getByRole('alert').textContent(), 'not known here');
      t.same(await accessibilityProblems(page), []);
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Log in' }).click();
      await page.getByRole('heading', { name: 'Nothing has come yet' }).waitFor();
      t.same(await accessibilityProblems(page), []);

      const { page: overview, complaints: others } = await visit('/');
      await overview.getByRole('heading', { name: 'Nothing has come yet' }).waitFor();
      // What is no run of an agent is not passed over in silence.
      const body = jsonOf(tracesOf(anOtlpSpan(1, { kind: 2 })));
      const headers = { 'content-type': 'application/json' };
      t.equal((await api.call('POST', '/otlp/v1/traces', { body, headers })).status, 200);
      await overview.getByRole('heading', { name: 'No run of an agent has come yet' }).waitFor();
      t.same(await accessibilityProblems(overview), []);

      // The line on the page works as it is, and the pages follow without a click.
      const curl = (await page.locator('pre').first().textContent()) ?? '';
      const [, batch = ''] = /-d '(.*)'$/s.exec(curl) ?? [];
      t.equal((await api.call('POST', '/traces/batch', { json: JSON.parse(batch) })).status, 200);
      await page.getByRole('link', { name: 'hello-agent' }).click();
      await page.getByRole('table', { name: 'Runs' }).getByRole('link').first().click();
      await page.getByRole('treegrid').waitFor();
      await page.getByText('Hello!').waitFor();
      t.match(page.url(), '/traces/7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a01');
      t.same(complaints, []);

      // Who watched the first page is told, and so is who opens it while there is this one run alone.
      const welcome = overview.getByRole('region', { name: 'The first run' });
      await welcome.getByText('It works').waitFor();
      t.same(await accessibilityProblems(overview), []);
      await overview.reload();
      await welcome.getByText('Completed').waitFor();
      await welcome.getByRole('link', { name: 'Open the run' }).click();
      await overview.getByRole('treegrid').waitFor();
      t.match(overview.url(), '/traces/7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a01');
      t.same(others, []);
    },
  );

  await t.test('a link that logs in, once', async (t) => {
    const { body } = await api.call('POST', '/session/links', { json: {} });
    const path = new URL((body as { readonly url: string }).url);
    const { page } = await visitUnknown(`${path.pathname}${path.hash}`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    t.notMatch(page.url(), '#t=', 'the token is gone from the address');
    const second = await visitUnknown(`${path.pathname}${path.hash}`);
    t.match(await second.page.getByRole('alert').textContent(), 'has been used');
  });

  await t.test('lists by keys alone, with a focus that is seen', async (t) => {
    const items = Array.from({ length: 5 }, (_, at) =>
      anItem({ trace: { agent: `agent-${String(at)}`, started_at: `2026-11-03T08:15:2${String(at)}Z` } }),
    );
    await api.call('POST', '/traces/batch', { json: { traces: items } });
    const { page, complaints } = await visit('/runs');
    await page.getByRole('link', { name: '2026-11-03' }).first().waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    t.equal(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'solid');
    await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await page.getByRole('treegrid').waitFor();
    const first = page.url();
    await page.keyboard.press(']');
    await page.waitForURL((url) => url.href !== first);
    await page.keyboard.press('[');
    await page.waitForURL(first);
    await page.goBack();
    await page.goBack();
    await page.goBack();
    await page.getByRole('heading', { name: 'Runs' }).waitFor();

    await page.keyboard.press('/');
    await page.keyboard.type('agent-3');
    await page.waitForURL('**/runs?q=agent-3');
    await page.getByText('1–1 of 1 run').waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('agent-4');
    await page.getByRole('option', { name: 'agent-4' }).waitFor();
    t.same(await accessibilityProblems(page), []);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'agent-4' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keys' }).waitFor();
    t.same(await accessibilityProblems(page), []);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    t.same(complaints, []);
  });

  await t.test('a link shows the same to somebody else', async (t) => {
    const { page } = await visit('/runs?status=failed&range=7d');
    await page.getByText('No runs match').waitFor();
    t.equal(await page.getByLabel('Status').inputValue(), 'failed');
    t.equal(await page.getByLabel('Started').inputValue(), '7d');
    await page.getByLabel('Status').selectOption('completed');
    await page.waitForURL('**/runs?range=7d&status=completed');
    await page.goBack();
    t.equal(await page.getByLabel('Status').inputValue(), 'failed');
    // A path that is mistyped leads to a page, too.
    await page.goto(new URL('/nowhere', page.url()).href);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    t.same(await accessibilityProblems(page), []);
  });

  await t.test(
    'axe finds nothing: light and dark, wide and narrow, and nothing is wider than the window',
    async (t) => {
      const item = anItem({ trace: { agent: ODD_NAME, status: 'failed', error_message: 'It broke.' } });
      const id = item.trace['trace_id'] as string;
      const root = aSpan(id, { type: 'agent', name: ODD_NAME, status: 'failed', error_message: 'It broke.' });
      item.spans.push(root, aSpan(id, { type: 'tool', parent_span_id: root['span_id'] as string }));
      await api.call('POST', '/traces/batch', { json: { traces: [item] } });
      const agents = await api.get<readonly { readonly id: string; readonly name: string }[]>('/agents');
      const agent = agents.find(({ name }) => name === ODD_NAME)?.id ?? '';
      const paths = [
        '/agents',
        `/agents/${agent}`,
        '/runs',
        `/runs?q=nothing&model=${encodeURIComponent(ODD_NAME)}`,
        `/traces/${id}`,
        `/traces/${id}?tab=json`,
        `/traces/${randomUUID()}`,
      ];
      await lookRight(t, await visit('/agents'), paths, { narrow: true });
    },
  );

  await t.test('a key that is revoked ends the session', async (t) => {
    const other = await api.createKey(['read']);
    const { page } = await visitUnknown('/runs');
    await page.getByLabel('API key').fill(other.key);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Runs' }).waitFor();
    await api.call('DELETE', `/admin/keys/${other.id}`);
    await page.getByLabel('Status').selectOption('completed');
    await page.getByLabel('API key').waitFor();
    t.pass();
  });

  await t.test('logging out ends it, too', async (t) => {
    const { page, context } = await visit('/runs');
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('API key').waitFor();
    t.same(await context.cookies(), []);
  });
});
