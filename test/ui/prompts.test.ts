import t from 'tap';
import { accessibilityProblems } from '../support/browser.js';
import { startPages } from '../support/ui.js';

void t.test('creates a prompt, moves its label, shares it and rolls back', async (t) => {
  const { api, permit } = await startPages(t);
  const { page, complaints } = await permit('/prompts');
  const empty = page.getByText('No prompts yet');
  await empty.waitFor();
  await page.getByRole('button', { name: 'New prompt' }).click();
  await empty.waitFor({ state: 'hidden' });
  await page.getByLabel('Name').fill('made/here');
  await page.getByLabel('Template').fill('Answer {{question}}.');
  await page.getByText('Variables: question').waitFor();
  await page.getByRole('button', { name: 'Create prompt' }).click();
  await page.getByRole('heading', { name: 'made/here' }).waitFor();
  await page.getByText('No labels yet.').waitFor();
  await page.getByRole('button', { name: 'Add label' }).click();
  const form = page.getByRole('form');
  await form.getByRole('button', { name: 'Add label' }).click();
  const labels = page.getByRole('table', { name: 'Labels', exact: true });
  await labels.getByRole('row', { name: /production v1/ }).waitFor();

  await page.getByRole('button', { name: 'New version from v1' }).click();
  await form.getByLabel('Type').selectOption('chat');
  await form.getByRole('button', { name: 'Add message' }).click();
  await form.getByRole('textbox', { name: 'Message 2' }).fill('Be {{tone}}.');
  await form.getByLabel('Changes from v1').getByText('Be {{tone}}.').waitFor();
  await form.getByRole('button', { name: 'Create v2' }).click();
  await page.getByRole('heading', { name: 'Compare v1 → v2' }).waitFor();
  t.match(await page.locator('pre[aria-label="Prompt text"]').textContent(), '[user]');

  const read = async () => (await api.call('GET', '/prompts/made%2Fhere?session_id=a')).body;
  await labels.getByRole('button', { name: 'Move production', exact: true }).click();
  await form.getByLabel('Version').selectOption('2');
  const path = '/dashboard/prompts/made%2Fhere/labels/production';
  await api.call('DELETE', path);
  await form.getByRole('button', { name: 'Move label' }).click();
  await form.getByText('The label production has changed.').waitFor();
  await form.getByRole('button', { name: 'Cancel' }).click();
  await api.call('PUT', path, { json: { version: 1 } });
  // The page follows the stream.
  await labels.getByRole('button', { name: 'Move production', exact: true }).click();
  await form.getByLabel('Version').selectOption('2');
  await form.getByRole('button', { name: 'Move label' }).click();
  await labels.getByRole('row', { name: /production v2/ }).waitFor();
  t.match(await read(), { version: 2, variables: ['question', 'tone'] });

  await page.getByRole('button', { name: 'Roll back production to v1' }).first().click();
  await page.getByText('Move production back to v1?').waitFor();
  await page.getByRole('button', { name: 'Roll back', exact: true }).click();
  await labels.getByRole('row', { name: /production v1/ }).waitFor();
  t.match(await read(), { version: 1 });

  await labels.getByRole('button', { name: 'Move production', exact: true }).click();
  await form.getByRole('button', { name: 'Split with another version' }).click();
  await form.getByLabel('Weight 1').fill('90');
  await form.getByRole('button', { name: 'Move label' }).click();
  await labels.getByText('v1 90%, v2 10%').waitFor();
  await page.getByRole('table', { name: 'Label history' }).getByText('v1 → v1 90%, v2 10%').waitFor();
  t.same(await accessibilityProblems(page), []);
  await page.goto(new URL('/prompts', page.url()).href);
  await page.getByText('production v2, production v1').waitFor();
  t.same(
    complaints.filter((line) => !line.includes('412')),
    [],
  );
});
