import type { ExporterFactory } from '../../component/factory.js';
import { resourcesOfTargets } from '../../delivery/senders/webhook/targets.js';
import { checkWebhook, webhookConfig } from './config.js';
import { WebhookExporter } from './webhook-exporter.js';

export const webhookExporter: ExporterFactory<typeof webhookConfig> = {
  kind: 'exporter',
  type: 'webhook',
  description: 'Sends signed events to the webhook endpoints that subscribe to them.',
  stability: 'beta',
  signals: ['events'],
  configSchema: webhookConfig,
  delivery: 'direct',
  check: checkWebhook,
  resources: ({ targets }) => resourcesOfTargets(targets),
  create: (settings) => new WebhookExporter(settings),
};
