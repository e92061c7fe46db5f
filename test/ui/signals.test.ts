import { readFile } from 'node:fs/promises';
import t from 'tap';
import type { ApiCaller } from '../support/api-caller.js';
import { accessibilityProblems } from '../support/browser.js';
import { gaugeRequest } from '../support/gauge-request.js';
import { logRequest, type LogToSend } from '../support/log-request.js';
import { anItem } from '../support/trace-batch.js';
import { lookRight, ODD_NAME, startPages } from '../support/ui.js';

const RECORDS = 450;

async function sendLogs(api: ApiCaller, service: string, logs: readonly LogToSend[]): Promise<void> {
  const { status } = await api.call('POST', '/otlp/v1/logs', { json: logRequest(service, logs) });
  if (status !== 200) throw new Error(`The records were answered with ${status}.`);
}

function secondsAgo(seconds: number): bigint {
  return (BigInt(Date.now()) - BigInt(seconds * 1000)) * 1_000_000n;
}

/** Records of two services, one of them with a run. @returns the id of the run */
async function fill(api: ApiCaller): Promise<string> {
  const { trace, spans } = anItem({ trace: { agent: 'checkout-agent' } });
  await api.call('POST', '/traces/batch', { json: { traces: [{ trace, spans }] } });
  const id = trace['trace_id'] as string;
  const many = Array.from({ length: RECORDS }, (_, i) => ({
    body: `order ${i} accepted`,
    nanos: secondsAgo(60 + i),
  }));
  await sendLogs(api, 'checkout', many);
  await sendLogs(api, 'bank', [
    {
      body: 'payment declined <img src=x onerror=alert(1)>',
      nanos: secondsAgo(30),
      severity: 17,
      traceId: id.replaceAll('-', ''),
      attributes: { 'http.route': '/pay' },
    },
  ]);
  return id;
}

void t.test('logs and metrics in a browser', async (t) => {
  const { api, permit } = await startPages(t);

  await t.test('explains an empty store', async (t) => {
    const { page, complaints } = await permit('/logs');
    await page.getByRole('heading', { name: 'No records in this period' }).waitFor();
    t.same(await accessibilityProblems(page), []);
    t.same(complaints, []);
  });

  const run = await fill(api);

  await t.test('finds records by facets and words, shows them and leads to their run', async (t) => {
    const { page, complaints } = await permit('/logs');
    const grid = page.getByRole('grid', { name: 'Log records' });
    await page.getByText(`200 of ${RECORDS + 1} records loaded`).waitFor();
    t.ok((await grid.getByRole('row').count()) < 150, 'only visible rows are rendered');
    await grid.hover();
    await page.mouse.wheel(0, 100_000);
    await page.getByText(`400 of ${RECORDS + 1} records loaded`).waitFor();

    await page.getByRole('group', { name: 'Service' }).getByRole('button', { name: 'bank' }).click();
    await page.waitForURL('**/logs?service=bank');
    await page.getByText('1 of 1 record loaded').waitFor();
    const services = page.getByRole('group', { name: 'Service' }).getByRole('button');
    t.equal(await services.count(), 2, 'counts of the other services');
    await grid.getByText('payment declined').click();
    const record = page.getByRole('complementary', { name: 'Log record' });
    await record.getByText('/pay').waitFor();
    t.match(
      await record.getByLabel('Body').textContent(),
      '<img src=x onerror=alert(1)>',
      'text without markup',
    );
    const link = page.url();
    await record.getByRole('link', { name: 'Open the run' }).click();
    await page.waitForURL(`**/traces/${run}`);
    await page.goto(link);
    await record.getByText('/pay').waitFor();
    await page.keyboard.press('Escape');
    await record.waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'service: bank' }).click();
    await page.getByRole('searchbox').fill('"order 7 accepted"');
    await page.getByText('1 of 1 record loaded').waitFor();
    await page.getByRole('searchbox').fill('accept');
    await page.getByRole('heading', { name: 'No records match' }).waitFor();
    t.same(complaints, []);
  });

  await t.test('exports all matching records, and arranges columns', async (t) => {
    const { page, complaints } = await permit('/logs?service=checkout&cols=time,run:90,body');
    const grid = page.getByRole('grid', { name: 'Log records' });
    await grid.waitFor();
    t.same(await grid.getByRole('columnheader').allTextContents(), ['Time', 'Run', 'Body']);
    await page.getByRole('button', { name: 'Columns' }).click();
    await page.getByRole('group', { name: 'Columns' }).getByLabel('Attributes', { exact: true }).check();
    await page.waitForURL((url) => url.searchParams.get('cols') === 'time,run:90,body,attributes');
    t.same(await accessibilityProblems(page), []);
    await page.getByRole('button', { name: 'Export' }).click();
    const [saved] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'NDJSON' }).click(),
    ]);
    t.equal(saved.suggestedFilename(), 'logs.ndjson');
    const lines = (await readFile(await saved.path(), 'utf8')).trim().split('\n');
    t.equal(lines.length, RECORDS, 'more than are loaded');
    t.match(JSON.parse(lines[0] ?? ''), { service_name: 'checkout', resource: {} });
    t.same(complaints, []);
  });

  await t.test('follows new records without moving while reading and counts skipped ones', async (t) => {
    const { page, complaints } = await permit('/logs?live=1');
    const grid = page.getByRole('grid', { name: 'Log records' });
    await page.getByText('Following').waitFor();
    await sendLogs(api, 'checkout', [{ body: 'the first that is new', nanos: secondsAgo(0) }]);
    await grid.getByText('the first that is new').waitFor();
    await grid.hover();
    await page.mouse.wheel(0, 1000);
    await page.getByText('Paused while you read').waitFor();
    const news = Array.from({ length: 300 }, (_, i) => ({ body: `flood ${i}`, nanos: secondsAgo(0) }));
    await sendLogs(api, 'checkout', news);
    await page.getByText('200 new records').waitFor();
    await page.getByText('100 records skipped').waitFor();
    t.equal(await page.evaluate('document.querySelector("[role=grid]").scrollTop'), 1000);
    await page.getByRole('button', { name: 'Show' }).click();
    await grid.getByText('flood 199', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Reload' }).click();
    await grid.getByText('flood 299', { exact: true }).waitFor();
    t.same(complaints, []);
  });

  await t.test('finds a metric, draws it by labels and compares its series', async (t) => {
    const points = Array.from({ length: 60 }, (_, i) => ({
      name: 'queue.depth',
      value: i % 2 === 0 ? 3 : 30 + i,
      nanos: secondsAgo(30 * i),
      attributes: { queue: i % 2 === 0 ? 'invoices' : 'tickets' },
    }));
    const { status } = await api.call('POST', '/otlp/v1/metrics', { json: gaugeRequest('shop', points) });
    t.equal(status, 200);
    const { page, complaints } = await permit('/explore/metrics');
    await page.getByRole('searchbox').fill('queue');
    await page.getByRole('link', { name: 'queue.depth' }).click();
    await page.getByRole('heading', { name: 'queue.depth' }).waitFor();
    await page.getByText('2 series').waitFor();
    const rows = page.getByRole('table', { name: 'Series' });
    await rows.getByRole('cell', { name: 'queue=tickets' }).waitFor();
    await page.getByLabel('Value').selectOption('max');
    await page.waitForURL('**&agg=max');
    await rows.getByRole('cell', { name: '89 s' }).first().waitFor();
    await page.getByRole('combobox', { name: /^Filter/ }).selectOption({ label: 'queue = invoices' });
    await page.getByText('1 series').waitFor();
    await page.getByRole('button', { name: 'queue: invoices' }).click();
    await page.getByText('2 series').waitFor();
    await page.getByLabel('Group by').selectOption('*');
    await page.getByText('1 series').waitFor();
    t.same(complaints, []);
  });

  await t.test('axe finds no problems in both themes, and nothing overflows the window', async (t) => {
    const { items } = await api.get<{
      readonly items: readonly { readonly id: string; readonly timestamp: string }[];
    }>('/dashboard/logs/search?severity=error');
    const odd = { name: ODD_NAME, value: 1, nanos: secondsAgo(30), attributes: { [ODD_NAME]: ODD_NAME } };
    await api.call('POST', '/otlp/v1/metrics', { json: gaugeRequest(ODD_NAME, [odd]) });
    const record = encodeURIComponent(`${items[0]?.timestamp ?? ''}~${items[0]?.id ?? ''}`);
    const paths = [
      '/logs',
      `/logs?q=nowhere&service=${encodeURIComponent(ODD_NAME)}`,
      `/logs?record=${record}&severity=error`,
      '/explore/metrics',
      '/explore/metrics?m=queue.depth',
      `/explore/metrics?m=${encodeURIComponent(ODD_NAME)}`,
    ];
    await lookRight(t, await permit('/agents'), paths);
  });

  await t.test('a failed load shows an error and can be retried', async (t) => {
    const { page } = await permit('/agents');
    await page.route('**/api/v1/dashboard/logs/**', (route) =>
      route.fulfill({
        status: 422,
        contentType: 'application/problem+json',
        body: '{"detail":"No such words."}',
      }),
    );
    await page.goto(new URL('/logs', page.url()).href);
    await page.getByText('No such words.').waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await page.getByRole('grid', { name: 'Log records' }).waitFor();
    t.pass('the records are loaded');
  });
});
