import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { ApiCaller } from '../support/api-caller.js';
import { traceIdOf } from '../support/header-text.js';
import { testFolder } from '../support/test-folder.js';
import { anItem, aSpan } from '../support/trace-batch.js';
import { lookRight, startPages } from '../support/ui.js';
import { until } from '../support/until.js';
import { AUTHORITY } from '../support/webhook-certificates.js';
import { answerText, startReceiver } from '../support/webhook-receiver.js';

const HOUR_MS = 3_600_000;
/** The minimum for a failure rate, and enough failures to pause an endpoint. */
const RUNS = 3;

/** Runs of one agent with a failed tool. @returns their ids */
async function sendFailed(api: ApiCaller, endedMs: number): Promise<readonly string[]> {
  const times = {
    started_at: new Date(endedMs - 1250).toISOString(),
    ended_at: new Date(endedMs).toISOString(),
  };
  const items = Array.from({ length: RUNS }, () => {
    const item = anItem({
      trace: { agent: 'clerk', status: 'failed', success: undefined, ...times },
      spans: 0,
    });
    const id = traceIdOf(item);
    const root = aSpan(id, { type: 'agent', name: 'clerk', ...times });
    const failure = { status: 'failed', error_message: 'No such order' };
    const parent_span_id = root['span_id'];
    const tool = aSpan(id, { type: 'tool', name: 'find_order', parent_span_id, ...failure, ...times });
    return { ...item, spans: [root, tool] };
  });
  await api.send(items);
  return items.map(traceIdOf);
}

/** The number of successful deliveries. */
async function delivered(api: ApiCaller): Promise<number> {
  const path = '/org/default/webhooks/deliveries?status=success';
  return (await api.get<{ readonly items: readonly object[] }>(path)).items.length;
}

void t.test('alerts and webhooks in a browser', async (t) => {
  let isBroken = true;
  const receiver = await startReceiver(t, (socket) =>
    socket.end(isBroken ? answerText('500 Broken', [], 'out of order') : answerText('200 OK')),
  );
  const directory = testFolder(t);
  const caFile = join(directory, 'authority.pem');
  writeFileSync(caFile, AUTHORITY);
  const targets = { allow_cidrs: ['127.0.0.1/32'], ca_file: caFile };
  const webhook = { targets, breaker_threshold: RUNS, retry_schedule: [] };
  const overlay = JSON.stringify({ exporters: { webhook, alerts: { interval: '1s', targets } } });
  const { api, url, permit, openUnknown } = await startPages(t, { directory, overlay });

  await t.test('creating an endpoint shows its secret once and marks invalid fields', async (t) => {
    const { page, complaints } = await permit('/webhooks');
    await page.waitForURL('**/webhooks/default');
    await page.getByRole('heading', { name: 'No endpoints yet' }).waitFor();
    await page.getByRole('button', { name: 'New endpoint' }).click();
    await page.getByLabel('URL').fill('https://192.168.0.1/hook');
    await page.getByLabel('Name').fill('pager');
    await page.getByRole('button', { name: 'Create endpoint' }).click();
    await page.locator('input[aria-invalid="true"]').waitFor();
    await page.getByLabel('URL').fill(`https://127.0.0.1:${receiver.port}/hook`);
    await page.getByRole('button', { name: 'Create endpoint' }).click();
    const made = page.getByRole('region', { name: 'Secret for pager' });
    t.match(await made.locator('code').textContent(), /^whsec_/);
    await made.getByRole('button', { name: 'I’ve saved it' }).click();
    await made.waitFor({ state: 'detached' });
    await page.reload();
    await page.getByRole('link', { name: 'pager' }).waitFor();
    t.notMatch(await page.content(), 'whsec_');
    t.same(complaints, []);
  });

  await t.test('after an outage activates an endpoint and resends failed deliveries', async (t) => {
    const [first = ''] = await sendFailed(api, Date.now() - 3 * HOUR_MS);
    await until('the endpoint is paused', async () => {
      const [endpoint] = await api.get<readonly { readonly is_active: boolean }[]>(
        '/org/default/webhooks/endpoints',
      );
      return endpoint?.is_active === false;
    });
    const { page, complaints } = await permit('/webhooks/default?status=failed');
    const banner = page.getByRole('alert');
    await banner.getByText('was paused after 3 consecutive failures').waitFor();
    isBroken = false;
    await banner.getByRole('button', { name: 'Activate' }).click();
    await banner.waitFor({ state: 'detached' });

    const list = page.getByRole('table', { name: 'Deliveries' });
    const row = list
      .getByRole('row')
      .filter({ has: page.getByRole('link', { name: `run ${first.slice(0, 8)}` }) });
    await row.first().getByRole('button').click();
    const sent = await page.getByRole('region', { name: 'Raw request body' }).locator('pre').textContent();
    const seen = receiver.requests.map(({ body }) => body.toString());
    t.ok(seen.includes(sent ?? ''), 'every byte');
    await page.getByText('out of order').waitFor({ state: 'attached' });
    await page.getByRole('button', { name: 'Resend', exact: true }).click();
    await until('it came again', async () => (await delivered(api)) === 1);
    t.equal(receiver.requests.length, RUNS + 1);
    t.equal(receiver.requests.at(-1)?.body.toString(), sent);

    await page.goto(`${url}/webhooks/default`);
    await page.getByRole('link', { name: 'pager' }).click();
    await page.waitForURL('**/webhooks/default?endpoint=*');
    await page.getByRole('button', { name: 'Resend failed deliveries' }).click();
    await page.getByRole('button', { name: 'Resend', exact: true }).click();
    await page.getByText('2 deliveries will be resent.').waitFor();
    await until('they came again', async () => (await delivered(api)) === RUNS);
    t.equal(receiver.requests.length, 2 * RUNS);
    await page.getByLabel('State').selectOption('success');
    await page.waitForURL('**&status=success');
    await page.getByText('3 deliveries total').waitFor();

    // The stream updates a row although the list cannot be loaded again.
    await page.route('**/webhooks/deliveries?*', (route) => route.abort());
    const { items } = await api.get<{ readonly items: readonly { readonly id: string }[] }>(
      '/org/default/webhooks/deliveries?status=success',
    );
    const [{ id } = { id: '' }] = items;
    t.equal((await api.call('POST', `/org/default/webhooks/deliveries/${id}/retry`)).status, 202);
    await list.getByRole('cell', { name: '3', exact: true }).waitFor();
    t.same(complaints, []);
  });

  let alert = '';
  await t.test('creating an alert previews its past, and a firing leads to the failed tool', async (t) => {
    const { page, complaints } = await permit('/alerts');
    await page.getByRole('link', { name: 'New alert' }).click();
    const agent = page.getByLabel('Agent', { exact: true });
    const option = page.getByRole('option', { name: 'clerk' });
    await agent.fill('CLE');
    await option.click();
    await page.waitForURL(/agent=[0-9a-f-]{36}/);
    await agent.blur();
    await agent.focus();
    await option.waitFor();
    t.equal(await agent.inputValue(), 'clerk', 'a focused field shows the picked agent');
    t.equal(await option.getAttribute('aria-selected'), 'false', 'Enter keeps the picked agent');
    await agent.press('Escape');
    await option.waitFor({ state: 'detached' });
    await agent.press('ArrowDown');
    await option.waitFor();
    const preview = page.getByRole('region', { name: 'Preview' });
    await page.getByText('this alert reaches nobody').waitFor();
    await preview.getByText('it would have fired 1 time').waitFor();
    await page.getByLabel('Threshold (%)').fill('100');
    await preview.getByText('it would have fired never').waitFor();
    await page.getByLabel('Threshold (%)').fill('50');
    await page.getByLabel('Minimum runs').fill(String(RUNS + 1));
    await preview.getByText('it would have fired never').waitFor();
    await page.getByLabel('Minimum runs').fill(String(RUNS));
    await preview.getByText('it would have fired 1 time').waitFor();
    await page.getByLabel('Window').selectOption('Last 15 minutes');
    await preview.getByText('each over the 15 m').waitFor();
    await page.getByRole('button', { name: 'Create alert' }).click();
    await page.getByRole('heading', { name: 'Never fired' }).waitFor();
    alert = new URL(page.url()).pathname;
    await page.getByText(`at least ${String(RUNS)} runs`).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Name').fill('Clerk fails');
    await page.getByLabel('Minimum runs').fill('');
    await page.getByLabel('Window').selectOption('Default of the daemon');
    const patch = page.waitForRequest((request) => request.method() === 'PATCH');
    await page.getByRole('button', { name: 'Save' }).click();
    t.match((await patch).postDataJSON(), { window_minutes: 0, min_samples: 0 });
    await page.getByRole('heading', { name: 'Clerk fails' }).waitFor();
    await page.getByRole('button', { name: 'Send a test' }).click();
    const tested = page.getByRole('table', { name: 'Firings' }).getByRole('row', { name: /test/ });
    await tested.getByText(/no mail server/i).waitFor();

    const runs = await sendFailed(api, Date.now());
    const firings = page.getByRole('table', { name: 'Firings' });
    const evidence = firings.getByRole('link').first();
    await evidence.waitFor();
    await page.getByRole('link', { name: /^Alerts 1 firing/ }).waitFor();
    const run = (await evidence.getAttribute('title')) ?? '';
    t.ok(runs.includes(run));
    await evidence.click();
    await page.waitForURL(`**/traces/${run}`);
    await page.getByRole('group', { name: 'Tool: find_order' }).getByText('No such order').waitFor();
    await page.getByRole('tab', { name: 'Alerts' }).click();
    await page.getByRole('table', { name: 'Alerts triggered by this run' }).getByRole('link').waitFor();
    await page.getByRole('tab', { name: 'Deliveries' }).click();
    await page.getByRole('cell', { name: 'trace.failed' }).waitFor();
    await page.getByRole('cell', { name: 'alert.fired' }).waitFor();
    await page.goto(url + alert);
    await page.getByRole('link', { name: 'clerk' }).click();
    const rules = page.getByRole('table', { name: 'Alerts' });
    await rules.getByRole('link', { name: 'Clerk fails' }).waitFor();
    await rules.getByText('Failure rate above 50%').waitFor();
    t.same(complaints, []);
  });

  await t.test('an alert about all agents together', async (t) => {
    const { page, complaints } = await permit('/alerts/new?of=all&type=cost_threshold&limit=5');
    await page.getByText('it would have fired never').waitFor();
    await page.getByLabel('Name').fill('budget');
    await page.getByRole('button', { name: 'Create alert' }).click();
    await page.getByRole('heading', { name: 'budget' }).waitFor();
    await page.getByText('All agents').waitFor();
    t.match(await api.get('/alerts'), [{ name: 'budget', all_agents: true, window_minutes: null }, {}]);
    t.same(complaints, []);
  });

  await t.test('axe finds no problems in both themes, and nothing overflows the window', async (t) => {
    await lookRight(t, await permit('/alerts'), ['/alerts', '/alerts/new', alert, '/webhooks/default']);
  });

  await t.test('readers see no actions; deleting an endpoint asks for confirmation', async (t) => {
    const reader = await api.createKey(['read']);
    const { page, context, complaints } = await openUnknown('/webhooks');
    await context.request.post(`${url}/api/v1/session`, {
      data: { key: reader.key },
      headers: { 'X-Jackdaw': '1' },
    });
    await page.goto(`${url}/webhooks`);
    await page.getByText('Read-only').waitFor();
    await page.getByRole('link', { name: 'pager' }).click();
    await page.getByRole('region', { name: 'Endpoint pager' }).waitFor();
    t.equal(await page.getByRole('button', { name: /New|Delete|Edit|Rotate|Send/ }).count(), 0);
    await page.goto(`${url}/webhooks/elsewhere`);
    await page.getByRole('heading', { name: 'Organization not found' }).waitFor();

    const own = await permit('/webhooks');
    await own.page.getByRole('link', { name: 'pager' }).click();
    await own.page.getByRole('button', { name: 'Delete pager' }).click();
    await own.page.getByRole('button', { name: 'Delete', exact: true }).click();
    await own.page.getByRole('heading', { name: 'No endpoints yet' }).waitFor();
    t.same(await api.get('/org/default/webhooks/endpoints'), []);
    t.same([...complaints, ...own.complaints], []);
  });
});
