import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { Static } from 'typebox';
import { attemptTimes } from '../../../src/delivery/senders/webhook/attempt-times.js';
import { checkWebhook, webhookConfig } from '../../../src/exporters/webhook/config.js';
import { webhookExporter } from '../../../src/exporters/webhook/factory.js';
import { WebhookExporter } from '../../../src/exporters/webhook/webhook-exporter.js';
import { componentSettings } from '../../support/component-settings.js';
import { sectionConfig } from '../../support/section-config.js';
import { until } from '../../support/until.js';
import { WebhookService } from '../../support/webhook-service.js';

const configOf = (yaml = ''): Static<typeof webhookConfig> => sectionConfig(webhookConfig, yaml);

void t.test('uses defaults', async (t) => {
  t.strictSame(configOf(), {
    control: 'sqlite',
    targets: { allow_cidrs: [] },
    retry_schedule: ['5s', '5m', '30m', '2h', '5h', '10h', '14h', '20h', '24h'],
    timeout: '15s',
    breaker_threshold: 20,
    max_concurrency: 64,
    max_concurrency_per_endpoint: 4,
    retention: '30d',
  });
  t.strictSame(checkWebhook(configOf()), []);
  t.strictSame(checkWebhook(configOf('retry_schedule: []')), []);
  t.strictSame(checkWebhook(configOf('timeout: 2s')), [], 'related defaults need no change');
  t.same(attemptTimes(configOf('timeout: 2s')), { timeoutMs: 2000, connectTimeoutMs: 2000 });
  t.same(attemptTimes(configOf()), { timeoutMs: 15_000, connectTimeoutMs: 5000 });
});

void t.test('the schema rejects invalid values', async (t) => {
  for (const yaml of [
    'retry_schedule: [soon]',
    `retry_schedule: [${Array.from({ length: 51 }, () => '1s').join(', ')}]`,
    'breaker_threshold: 0',
    'breaker_threshold: 10001',
    'max_concurrency: 0',
    'max_concurrency_per_endpoint: 0',
    'targets: { allow: [] }',
  ])
    t.throws(() => configOf(yaml), yaml);
});

void t.test('reports other invalid values with their position', async (t) => {
  const cases: readonly (readonly [yaml: string, path: string, message: RegExp])[] = [
    [
      'targets: { allow_cidrs: [10.0.0.0/8, 10.0.0.1] }',
      '/targets/allow_cidrs/1',
      /"10\.0\.0\.1" is not a range/,
    ],
    ['connect_timeout: 20s', '/connect_timeout', /must not be longer \(15s\)/],
    ['{ timeout: 3s, connect_timeout: 4s }', '/connect_timeout', /must not be longer \(3s\)/],
    ['timeout: 0s', '/timeout', /must be greater than 0s/],
    ['connect_timeout: 0s', '/connect_timeout', /must be greater than 0s/],
    ['retention: 1d', '/retention', /shorter than the retries take \(272105s by retry_schedule\)/],
    ['{ retention: 0s, retry_schedule: [] }', '/retention', /shorter/],
  ];
  for (const [yaml, path, message] of cases) {
    const found = checkWebhook(configOf(yaml));
    t.ok(
      found.some((problem) => problem.path === path && message.test(problem.message)),
      `${yaml}: ${JSON.stringify(found)}`,
    );
  }
});

void t.test('the CA file must be readable', async (t) => {
  t.strictSame(webhookExporter.resources?.(configOf('targets: { ca_file: ca.pem }')), [
    { kind: 'readable_file', path: 'ca.pem' },
  ]);
  t.strictSame(webhookExporter.resources?.(configOf()), []);
});

void t.test('accepts nothing unstarted and can be stopped', async (t) => {
  const exporter = webhookExporter.create({ ...componentSettings('webhook'), config: configOf() });
  const batch = { tenant: 'somebody', items: [] };
  await t.rejects(async () => exporter.inputs.events?.consume(batch, { receivedAt: 0 }), {
    code: 'shutting_down',
    retryable: true,
  });
  await exporter.shutdown?.(AbortSignal.abort());
  await exporter.shutdown?.(AbortSignal.abort());
});

void t.test('an unusable CA file stops the start without side effects', async (t) => {
  const service = await WebhookService.start(t);
  await service.exporter.shutdown(AbortSignal.abort());
  const file = join(service.place.directory, 'empty.pem');
  writeFileSync(file, '');
  const config = configOf(`targets: { ca_file: ${JSON.stringify(file)}, allow_cidrs: [10.0.0.0/8] }`);
  const exporter = new WebhookExporter({ ...componentSettings('webhook/other'), config });
  await t.rejects(exporter.start(service.host()), /empty\.pem \(targets\.ca_file\) contains no certificate/);
  await exporter.shutdown(AbortSignal.abort());
  t.strictSame(await service.allowedTargets(), []);
  const next = new WebhookExporter({ ...componentSettings('webhook'), config: configOf() });
  await next.start(service.host());
  await next.shutdown(AbortSignal.abort());
});

void t.test('a thread that cannot start is fatal and loses nothing', async (t) => {
  const service = await WebhookService.start(t);
  await service.exporter.shutdown(AbortSignal.abort());
  const settings = componentSettings('webhook');
  const exporter = new WebhookExporter({ ...settings, config: configOf() }, async () => {
    throw new Error('no more threads');
  });
  await exporter.start(service.host());
  const { id } = await service.addEndpoint('https://hook.test/');
  const batch = { tenant: service.tenant, items: [service.event('trace.failed', {})] };
  t.match(await exporter.inputs.events?.consume(batch, { receivedAt: 0 }), { accepted: 1 });
  await until('the result is reported', () => service.statuses.statuses.length > 0);
  t.match(service.statuses.statuses, [
    { level: 'fatal', message: /^The thread that sends webhooks could not be started; see the log\./ },
  ]);
  t.match(settings.logger.lines, [/^error The thread that sends webhooks could not be started.*no more/]);
  t.match(await service.deliveries(id), [{ status: 'pending' }]);
  await exporter.shutdown(AbortSignal.abort());
});

void t.test('publishes its targets while running', async (t) => {
  const service = await WebhookService.start(t);
  t.strictSame(await service.allowedTargets(), ['127.0.0.1/32']);
  await service.exporter.shutdown(AbortSignal.abort());
  t.strictSame(await service.allowedTargets(), []);
});

void t.test('rejects a second exporter on the same store and names the first', async (t) => {
  const service = await WebhookService.start(t);
  const second = new WebhookExporter({ ...componentSettings('webhook/second'), config: configOf() });
  await t.rejects(
    second.start(service.host()),
    /The deliveries in "sqlite" are sent by exporter "webhook" already: use that exporter in all pipelines, or name another store/,
  );
  await second.shutdown(AbortSignal.abort());
  const third = new WebhookExporter({ ...componentSettings('webhook/third'), config: configOf() });
  await t.rejects(third.start(service.host()), /already/, 'the rejected one releases nothing of the first');
  await service.exporter.shutdown(AbortSignal.abort());
  await third.start(service.host());
  await third.shutdown(AbortSignal.abort());
});
