import type { ExporterFactory } from '../../component/factory.js';
import { checkWebhook, webhookConfig } from './config.js';
import { WebhookExporter } from './webhook-exporter.js';

export const webhookExporter: ExporterFactory<typeof webhookConfig> = {
  kind: 'exporter',
  type: 'webhook',
  description: 'Sends events, signed, to the webhook endpoints that subscribe to them.',
  stability: 'beta',
  signals: ['events'],
  configSchema: webhookConfig,
  delivery: 'direct',
  check: checkWebhook,
  resources: ({ targets: { ca_file } }) =>
    ca_file === undefined ? [] : [{ kind: 'readable_file', path: ca_file }],
  create: (settings) => new WebhookExporter(settings),
};
