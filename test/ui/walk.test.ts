import { randomUUID } from 'node:crypto';
import type { Page } from 'playwright-core';
import t from 'tap';
import { accessibilityProblems } from '../support/browser.js';
import { aSpan as anOtlpSpan, jsonOf, tracesOf } from '../support/otlp-requests.js';
import { anItem, aSpan } from '../support/trace-batch.js';
import { lookRight, ODD_NAME, settled, startPages } from '../support/ui.js';

/** The first number of runs shown by the overview from now on. */
function firstRunsShown(page: Page): Promise<string> {
  return page.evaluate<string>(
    `new Promise((resolve) => {
      const look = () => {
        const shown = document.querySelector('main dl dd > span')?.textContent;
        if (shown) resolve(shown);
      };
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
    })`,
  );
}

void t.test('a browser from its first login to its logout', async (t) => {
  const { api, key, permit, url, openUnknown } = await startPages(t);

  await t.test('logs in with a valid key only, and an empty store explains setup', async (t) => {
    const { page, complaints } = await openUnknown('/agents');
    await page.getByLabel('API key').fill('jd_wrong');
    await page.keyboard.press('Enter');
    t.match(await page.getByRole('alert').textContent(), 'Unknown or revoked key');
    t.same(await accessibilityProblems(page), []);
    await page.getByLabel('API key').fill(key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'No data yet' }).waitFor();
    t.same(await accessibilityProblems(page), []);

    const { page: overview, complaints: others } = await permit('/');
    await overview.getByRole('heading', { name: 'No data yet' }).waitFor();
    // Data that is not an agent run is also reported.
    const body = jsonOf(tracesOf(anOtlpSpan(1, { kind: 2 })));
    const headers = { 'content-type': 'application/json' };
    t.equal((await api.call('POST', '/otlp/v1/traces', { body, headers })).status, 200);
    await overview.getByRole('heading', { name: 'No agent runs yet' }).waitFor();
    t.same(await accessibilityProblems(overview), []);

    const shown = firstRunsShown(overview);

    const code = page.getByRole('tabpanel').locator('pre');
    t.match(await code.textContent(), `OTLP_ENDPOINT=${url}/api/v1/otlp\n`);
    await page.getByRole('tab', { name: 'Python' }).press('ArrowLeft');
    await page.getByRole('button', { name: 'Create a key for sending data' }).click();
    await page.getByText('The key is in the commands below').waitFor();
    t.same(await accessibilityProblems(page), []);
    // The shown command works as is, with the new key, and the run opens without a click.
    const curl = (await code.textContent()) ?? '';
    const [, address = '', made = '', batch = ''] =
      /^curl -sS (\S+).*Bearer (jd_\S+)".*-d '(.*)'$/s.exec(curl) ?? [];
    const sent = await fetch(address, {
      method: 'POST',
      headers: { authorization: `Bearer ${made}`, 'content-type': 'application/json' },
      body: batch,
    });
    t.equal(sent.status, 200);
    await page.getByRole('treegrid').waitFor();
    await page.getByText('Hello!').waitFor();
    t.match(page.url(), '/traces/7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a01');
    t.same(complaints, []);

    // It opens for a viewer of the first page, too; while it is the only run, that page announces it.
    await overview.getByRole('treegrid').waitFor();
    await overview.goto(url);
    const welcome = overview.getByRole('region', { name: 'The first run' });
    await welcome.getByText('It works').waitFor();
    t.equal(await shown, '1', 'no figure of the empty store is seen');
    t.same(await accessibilityProblems(overview), []);
    await overview.reload();
    await welcome.getByText('Completed').waitFor();
    await welcome.getByRole('link', { name: 'Open the run' }).click();
    await overview.getByRole('treegrid').waitFor();
    t.match(overview.url(), '/traces/7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a01');
    t.same(others, []);
  });

  await t.test('shows that the daemon is gone, and loads again when it is back', async (t) => {
    const { page } = await permit('/agents');
    const row = page.getByRole('link', { name: 'hello-agent' });
    await row.waitFor();
    await page.route('**/api/v1/**', (route) => route.abort());
    const pages = page.getByRole('navigation', { name: 'Pages' });
    await pages.getByRole('link', { name: 'Users' }).click();
    await page.getByText('Disconnected from the daemon').waitFor();
    await page.getByRole('heading', { name: 'Loading failed' }).waitFor();
    t.same(await accessibilityProblems(page), []);
    await page.unrouteAll();
    await page.getByText('Disconnected from the daemon').waitFor({ state: 'detached' });
    await page.getByRole('heading', { name: 'No users match' }).waitFor();
    t.pass('without a click');
  });

  await t.test('a login link works once', async (t) => {
    const { body } = await api.call('POST', '/session/links', { json: {} });
    const path = new URL((body as { readonly url: string }).url);
    const { page } = await openUnknown(`${path.pathname}${path.hash}`);
    const ask = page.getByRole('button', { name: 'Log in as admin@localhost' });
    await ask.waitFor();
    t.notMatch(page.url(), '#t=', 'the token is removed from the address');
    t.same(await accessibilityProblems(page), []);
    await ask.click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    const second = await openUnknown(`${path.pathname}${path.hash}`);
    t.match(await second.page.getByRole('alert').textContent(), 'was already used');
  });

  await t.test('a link of another user asks before switching accounts', async (t) => {
    const mallory = await api.createUser('mallory@example.org', ['read', 'manage']);
    const { body } = await api.call('POST', '/session/links', { key: mallory.key });
    const { hash } = new URL((body as { readonly url: string }).url);
    const { page } = await permit(`/settings${hash}`);
    await page.getByText('You are logged in as admin@localhost').waitFor();
    await page.getByRole('button', { name: 'Stay logged in as admin@localhost' }).click();
    await page.getByRole('table', { name: 'Browser sessions' }).getByText('this session').waitFor();
    t.equal((await page.getByText('mallory@example.org').all()).length, 0);
  });

  await t.test('lists work by keyboard with a visible focus', async (t) => {
    const items = Array.from({ length: 5 }, (_, at) =>
      anItem({ trace: { agent: `agent-${String(at)}`, started_at: `2026-11-03T08:15:2${String(at)}Z` } }),
    );
    await api.call('POST', '/traces/batch', { json: { traces: items } });
    const { page, complaints } = await permit('/runs');
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
    await page.getByText('1 run', { exact: true }).first().waitFor();
    await page.locator('mark', { hasText: 'agent' }).first().waitFor();
    await page.keyboard.press('Control+k');
    await page.keyboard.type('agent-4');
    await page.getByRole('option', { name: 'agent-4 agent', exact: true }).waitFor();
    t.same(await accessibilityProblems(page), []);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'agent-4' }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
    t.same(await accessibilityProblems(page), []);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    t.same(complaints, []);
  });

  await t.test('Ctrl-K finds named things with few requests', async (t) => {
    await api.call('POST', '/dashboard/prompts/', { json: { name: 'Care/Greeting', template_text: 'Hi' } });
    const json = { type: 'inactivity', threshold: 7, target_service: 'greeter', channel: 'email' };
    t.equal((await api.call('POST', '/alerts', { json })).status, 201);
    const endpoint = {
      url: 'https://example.com/greet',
      name: 'greet the team',
      event_types: ['trace.failed'],
    };
    const endpoints = '/org/default/webhooks/endpoints';
    t.equal((await api.call('POST', endpoints, { json: endpoint })).status, 201);
    const { page, complaints } = await permit('/settings');
    await page.getByRole('heading', { name: 'Settings' }).waitFor();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname.slice('/api/v1'.length)));
    const find = async (text: string): Promise<void> => {
      await page.keyboard.press('Control+k');
      await page.keyboard.type(text);
    };
    await find('greet');
    for (const name of ['Care/Greeting prompt', /: greeter alert/, 'greet the team webhook endpoint'])
      await page.getByRole('option', { name }).waitFor();
    t.same(await accessibilityProblems(page), []);
    t.notOk(asked.includes('/dashboard/prompts/'), 'no prompt text is requested');
    await page.getByRole('option', { name: 'Care/Greeting' }).click();
    await page.getByRole('heading', { name: 'Care/Greeting' }).waitFor();
    await find('greet the');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/webhooks/default?endpoint=*');
    await find('GPT-5');
    await page.getByRole('option', { name: 'gpt-5-mini runs with this model' }).click();
    await page.waitForURL('**/runs?model=gpt-5-mini&kind=all');
    await find('hello');
    const run = page.getByRole('option', { name: /^hello-agent .* run,/ });
    await run.locator('mark', { hasText: /hello/i }).first().waitFor();
    t.same(await accessibilityProblems(page), []);
    await run.click();
    await page.waitForURL('**/traces/7b8c1c1e-0d5c-4a53-9a55-1d0a3a7a5a01*');
    await find('no / name');
    await page.getByRole('option', { name: 'All runs with “no / name”' }).click();
    await page.waitForURL('**/runs?kind=all&q=no%20%2F%20name');
    t.same(complaints, []);
  });

  await t.test('explains a missing value by keyboard and touch without layout shifts', async (t) => {
    const { page, complaints } = await permit('/agents?range=all', { hasTouch: true });
    const reason = 'Select a period shorter than all time';
    const dash = page.locator(`[data-missing="${reason}"] > [title]`).first();
    const tooltip = page.locator('[popover]');
    const place = async () => JSON.stringify(await page.getByRole('table').boundingBox());
    await dash.waitFor();
    await settled(page);
    const before = await place();
    await dash.tap();
    await tooltip.getByText(reason).waitFor();
    t.equal(await place(), before);
    t.same(await accessibilityProblems(page), []);
    t.match(page.url(), /\/agents\?range=all$/, 'the row is not opened');
    await tooltip.tap();
    t.equal(await tooltip.isVisible(), true, 'stays visible as long as needed');
    await page.getByRole('heading', { name: 'Agents' }).tap();
    await tooltip.waitFor({ state: 'detached' });
    await dash.tap();
    await tooltip.waitFor();
    await page.keyboard.press('Escape');
    await tooltip.waitFor({ state: 'detached' });

    t.equal(await page.locator('[data-missing] :is(a, button, [tabindex])').count(), 0, 'Tab skips it');
    t.match(await page.getByRole('cell', { name: reason }).first().textContent(), reason, 'it is read');
    const row = page.getByRole('row').filter({ has: page.locator(`[data-missing="${reason}"]`) });
    await row.first().getByRole('link').first().focus();
    await page.keyboard.press('-');
    const why = page.getByRole('dialog', { name: 'Why values are missing' });
    await why.getByRole('heading', { name: 'In the current row' }).waitFor();
    t.match(await why.textContent(), `p95${reason}`);
    t.same(await accessibilityProblems(page), []);
    await page.keyboard.press('Escape');
    await why.waitFor({ state: 'detached' });
    // Login returns to the previous page.
    await row.first().locator('a:focus').waitFor();
    t.same(complaints, []);
  });

  await t.test('a link shows the same to another user', async (t) => {
    const { page } = await permit('/runs?status=failed&range=7d');
    await page.getByText('No runs match').waitFor();
    t.equal(await page.getByLabel('Status').inputValue(), 'failed');
    t.equal(await page.getByLabel('Period').inputValue(), '7d');
    await page.getByLabel('Status').selectOption('completed');
    await page.waitForURL('**/runs?range=7d&status=completed');
    await page.goBack();
    t.equal(await page.getByLabel('Status').inputValue(), 'failed');
    const custom = '2026-11-03T08:00:00.000Z..2026-11-03T09:30:00.000Z';
    await page.goto(new URL(`/runs?range=${custom}`, page.url()).href);
    const period = page.getByLabel('Period');
    t.match(await period.locator('option:checked').textContent(), /^2026-11-03 .* to 2026-11-03 /);
    t.match(await period.getAttribute('title'), / UTC.* to .* UTC/, 'the zone is in the tooltip');
    // A mistyped path has a page, too.
    await page.goto(new URL('/nowhere', page.url()).href);
    await page.getByRole('heading', { name: 'Page not found' }).waitFor();
    t.same(await accessibilityProblems(page), []);
  });

  await t.test(
    'axe finds no problems in both themes and widths, and nothing overflows the window',
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
      await lookRight(t, await permit('/agents'), paths, { narrow: true });
    },
  );

  await t.test('revoking its key ends the session', async (t) => {
    const other = await api.createKey(['read']);
    const { page } = await openUnknown('/runs');
    await page.getByLabel('API key').fill(other.key);
    t.equal(await page.getByText('Your session has ended').count(), 0, 'there was none');
    await page.keyboard.press('Enter');
    await page.locator('main table tbody tr:visible').first().waitFor();
    await api.call('DELETE', `/admin/keys/${other.id}`);
    // The next request of the page ends the session; it is sent now unless one is already pending.
    const login = page.getByLabel('API key').waitFor();
    await Promise.race([page.getByLabel('Status').selectOption('completed'), login]);
    await login;
    t.pass();
  });

  await t.test('logging out ends the session', async (t) => {
    const { page, context } = await permit('/runs');
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByLabel('API key').waitFor();
    t.same(await context.cookies(), []);
  });
});
