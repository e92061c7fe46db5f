import t from 'tap';
import { accessibilityProblems } from '../support/browser.js';
import { traceIdOf } from '../support/header-text.js';
import { anItem } from '../support/trace-batch.js';
import { lookRight, settled, startPages } from '../support/ui.js';

void t.test('settings', async (t) => {
  const { api, url, key, permit, openUnknown } = await startPages(t);

  await t.test('a new key logs in another browser, which is logged out when it is revoked', async (t) => {
    const { page, complaints } = await permit('/settings/keys');
    await page.getByRole('button', { name: 'New key' }).click();
    await page.getByLabel('Name').fill('notebook');
    await page.getByLabel('read').check();
    await page.getByLabel('manage').check();
    await page.getByLabel('Your API key').fill(key);
    await page.getByRole('button', { name: 'Create key' }).click();
    const made = page.getByRole('region', { name: 'Key notebook' });
    const text = (await made.locator('code').textContent()) ?? '';
    t.match(text, /^jd_/);

    const other = await openUnknown('/settings/keys');
    await other.page.getByLabel('API key').fill(text);
    await other.page.getByRole('button', { name: 'Log in' }).click();
    await other.page.getByText('this session').waitFor();
    t.equal(await other.page.locator('a[href$="/settings/users"]').count(), 0, 'not within its scopes');
    await other.page.goto(`${url}/settings/users`);
    await other.page.getByRole('heading', { name: 'Only administrators can see this' }).waitFor();
    t.same(await accessibilityProblems(other.page), []);
    await other.page.getByRole('link', { name: 'You' }).click();
    await other.page.getByRole('heading', { name: 'Preferences' }).waitFor();

    await made.getByRole('button', { name: 'I’ve saved it' }).click();
    await page.getByRole('button', { name: 'Revoke notebook' }).click();
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByRole('cell', { name: 'revoked' }).waitFor();
    await other.page.getByRole('link', { name: 'Agents' }).click();
    await other.page.getByText('Your session has ended').waitFor();
    t.same(complaints, []);
    t.same(other.complaints, []);
  });

  await t.test('warns before revoking the key of the session, then logs out', async (t) => {
    await api.call('POST', '/me/keys', { json: { name: 'spare', scopes: ['admin'] } });
    const { body } = await api.call('POST', '/me/keys', { json: { name: 'own', scopes: ['admin'] } });
    const { page, complaints } = await openUnknown('/settings/keys');
    await page.getByLabel('API key').fill((body as { readonly key: string }).key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('button', { name: 'Revoke own' }).click();
    await page.getByText('This ends your current session.').waitFor();
    await page.getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByText('Your session has ended').waitFor();
    t.same(complaints, []);
  });

  await t.test('creates a user with keys in an organization and marks invalid fields', async (t) => {
    const { page, complaints } = await permit('/settings/users');
    await page.getByRole('button', { name: 'New user' }).click();
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('E-mail').fill('no address');
    await page.getByLabel('Events per month').fill('many');
    await page.getByRole('button', { name: 'Create user' }).click();
    await page.getByText('must be a whole number, such as 100000').waitFor();
    await page.getByLabel('Events per month').fill('5 000');
    await page.getByRole('button', { name: 'Create user' }).click();
    await page.locator('input[type="email"][aria-invalid="true"]').waitFor();
    await page.getByLabel('E-mail').fill('ada@example.com');
    await page.getByRole('button', { name: 'Create user' }).click();
    await page.getByRole('link', { name: 'Ada' }).click();
    await page.getByRole('heading', { name: 'This user has no keys yet' }).waitFor();
    await page.getByRole('button', { name: 'Disable Ada' }).click();
    await page.getByRole('button', { name: 'Disable', exact: true }).click();
    await page.getByRole('button', { name: 'Enable Ada' }).waitFor();
    const users =
      await api.get<readonly { readonly name: string; readonly disabled: boolean }[]>('/admin/users');
    t.match(
      users.find(({ name }) => name === 'Ada'),
      { disabled: true, monthly_event_limit: 5000 },
    );

    await page.getByRole('link', { name: 'Organizations' }).click();
    await page.getByRole('button', { name: 'New organization' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Acme');
    await page.getByLabel('Slug').fill('acme');
    await page.getByRole('button', { name: 'Create organization' }).click();
    await page.getByRole('link', { name: 'Acme' }).click();
    const user = page.getByLabel('User');
    await user.selectOption({ label: 'Ada · ada@example.com' });
    await page.getByRole('button', { name: 'Add member' }).click();
    await page.getByRole('button', { name: 'Change to admin Ada' }).click();
    await page.getByRole('button', { name: 'Change to admin', exact: true }).click();
    await page.getByRole('cell', { name: 'admin', exact: true }).waitFor();
    t.same(complaints, []);
  });

  await t.test('filters the audit log by action, user and time', async (t) => {
    await api.call('POST', '/me/alert-secret');
    const { page, complaints } = await permit('/settings');
    await page.getByRole('link', { name: 'Audit' }).click();
    const table = page.getByRole('table', { name: 'Audit' });
    const made = table.getByRole('row', { name: /Member added or changed .* slug: acme, .*role: admin/ });
    await made.waitFor();
    t.match(await made.textContent(), /127\.0\.0\.1/);
    const action = page.getByRole('combobox', { name: /^Action/ });
    await action.selectOption({ label: 'Alert secret rotated' });
    await made.waitFor({ state: 'detached' });
    const line = table.getByRole('row', { name: /Alert secret rotated/ });
    await line.waitFor();
    await page.getByRole('combobox', { name: /^User/ }).selectOption({ label: 'Ada · ada@example.com' });
    await page.getByRole('heading', { name: 'No actions match' }).waitFor();
    await page.goBack();
    await line.waitFor();
    t.equal(new URL(page.url()).searchParams.get('action'), 'alert_secret.rotated');
    await page.getByRole('combobox', { name: /^Period/ }).selectOption('1h');
    await line.getByRole('link').click();
    await page.getByRole('heading', { name: 'API keys' }).waitFor();
    t.same(complaints, []);
  });

  await t.test('shows data flow, edges by keyboard, health and configuration of the daemon', async (t) => {
    await api.send([anItem()]);
    const { page, complaints } = await permit('/daemon');
    const graph = page.getByRole('region', { name: /^Pipeline graph/ });
    const edge = graph.getByRole('button', { name: /^trace_batch to validation in traces/ });
    await edge.focus();
    await page.keyboard.press('Enter');
    const panel = page.getByRole('complementary', { name: 'Edge' });
    await panel.getByText('receiver trace_batch').waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    // Passing items are shown and kept while being read.
    const tap = panel.getByRole('region', { name: 'Live items' });
    await tap.getByText('No data of yours has passed').waitFor();
    await tap.getByText(/^Live sample/).waitFor();
    t.same(await accessibilityProblems(page), []);
    const row = page
      .getByRole('table', { name: 'Edges' })
      .getByRole('row', { name: /^trace_batch → validation/ });
    await row.getByRole('cell', { name: '1', exact: true }).waitFor();
    await api.send([anItem()]);
    await row.getByRole('cell', { name: '2', exact: true }).waitFor();
    const item = tap.getByRole('button', { name: /^Accepted: researcher/ });
    await item.press('Enter');
    await tap.getByText(/^Accepted in .*, in a batch of 1 item$/).waitFor();
    t.match(await tap.getByRole('link', { name: 'Open the run' }).getAttribute('href'), '/traces/');
    t.same(await accessibilityProblems(page), []);
    await api.send([anItem()]);
    await tap.getByText('Paused while you read; 1 item waiting').waitFor();
    await item.press('Enter');
    await tap.getByRole('listitem').nth(1).waitFor();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    await page.getByRole('combobox', { name: 'Pipeline' }).selectOption('events');
    await graph.getByRole('button', { name: /^outbox to webhook in events/ }).waitFor();
    t.equal(await graph.getByRole('button', { name: / in / }).count(), 1);
    await page.getByRole('button', { name: 'Components' }).click();
    await page.getByRole('row', { name: 'validation processor traces Healthy' }).waitFor();
    await page.getByRole('button', { name: 'Configuration' }).click();
    const yaml = page.getByRole('region', { name: 'Configuration as YAML' });
    t.match(await yaml.textContent(), /bootstrap_key: "\[secret\]"/);
    t.notMatch(await yaml.textContent(), key);
    t.same(complaints, []);

    const other = await openUnknown('/daemon');
    const reader = await api.createKey(['read']);
    await other.page.getByLabel('API key').fill(reader.key);
    await other.page.getByRole('button', { name: 'Log in' }).click();
    await other.page.getByRole('heading', { name: 'Only administrators can see this' }).waitFor();
    t.equal(await other.page.getByRole('link', { name: 'Daemon' }).count(), 0);
    t.same(await accessibilityProblems(other.page), []);
    t.same(other.complaints, []);
  });

  await t.test('another user sees setup instructions and only its own organizations', async (t) => {
    const made = await api.createUser('mia@example.com', ['read', 'write', 'manage']);
    await api.call('POST', '/admin/orgs', { json: { slug: 'mias', name: 'Of Mia' } });
    const { page, complaints } = await openUnknown('/');
    await page.getByLabel('API key').fill(made.key);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('heading', { name: 'No data yet' }).waitFor();
    const shown = await page.locator('main').innerText();
    t.match(shown, 'authorization=Bearer%20$JACKDAW_KEY');
    t.notMatch(shown, 'initial-api-key');
    t.same(await accessibilityProblems(page), []);
    await page.getByRole('link', { name: 'your API keys' }).click();
    await page.getByRole('button', { name: 'New key' }).waitFor();
    const { user } = await api.get<{ readonly user: { readonly id: string } }>('/me', made.key);
    await api.call('PUT', `/admin/orgs/mias/members/${user.id}`, { json: { role: 'member' } });
    await page.goto(new URL('/webhooks', page.url()).href);
    await page.getByRole('heading', { name: 'Webhooks · Of Mia' }).waitFor();
    t.equal(await page.getByRole('button', { name: 'New endpoint' }).count(), 0, 'members have no actions');
    await page.goto(new URL('/webhooks/default', page.url()).href);
    await page.getByRole('heading', { name: 'Organization not found' }).waitFor();
    t.same(await accessibilityProblems(page), []);
    t.same(complaints, []);
  });

  await t.test('axe finds no problems in both themes, and nothing overflows the window', async (t) => {
    const paths = [
      '/daemon',
      '/daemon?view=components',
      '/daemon?view=configuration',
      '/settings',
      '/settings/keys',
      '/settings/users',
      '/settings/organizations?org=acme',
      '/settings/audit',
      '/settings/none',
    ];
    await lookRight(t, await permit('/settings'), paths);
  });
});

void t.test('shows usage and finds a trace', async (t) => {
  const { api, url, permit } = await startPages(t);
  const good = anItem();
  const bad = anItem({ trace: { total_tokens: -1 } });
  await api.call('POST', '/traces/batch', { json: { traces: [good, bad] } });
  const { page, complaints } = await permit('/usage');
  await page.getByRole('heading', { name: 'Where is my trace?' }).waitFor();
  const box = page.getByLabel('Trace id');
  await box.fill(traceIdOf(good).replaceAll('-', ''));
  await page.getByText('Stored.').waitFor();
  await box.fill(traceIdOf(bad));
  await page.getByText('Refused.', { exact: true }).waitFor();
  await page.getByText('fails validation').first().waitFor();
  t.same(await accessibilityProblems(page), []);
  await page.keyboard.press('Control+k');
  await page
    .getByRole('combobox', { name: 'Search pages, names, ids, runs and logs' })
    .fill('0af7651916cd43dd8448eb211c80319c');
  await page.getByRole('option', { name: 'Where is this trace?' }).click();
  await page.getByText('Never received.').waitFor();
  t.equal(new URL(page.url()).searchParams.get('trace'), '0af76519-16cd-43dd-8448-eb211c80319c');

  const dark = await permit('/usage', { colorScheme: 'dark', reducedMotion: 'reduce' });
  await settled(dark.page);
  t.same(await accessibilityProblems(dark.page), []);
  await dark.page.setViewportSize({ width: 390, height: 844 });
  t.equal(await dark.page.evaluate('document.documentElement.scrollWidth <= innerWidth'), true);
  const writer = await api.createKey(['write']);
  await dark.context.request.post(`${url}/api/v1/session`, {
    data: { key: writer.key },
    headers: { 'X-Jackdaw': '1' },
  });
  await dark.page.goto(`${url}/usage`);
  await dark.page.getByRole('heading', { name: 'Your key is not allowed to see this' }).first().waitFor();
  t.same([...complaints, ...dark.complaints], []);
});
