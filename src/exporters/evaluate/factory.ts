import type { ExporterFactory } from '../../component/factory.js';
import { resourcesOfTargets } from '../../delivery/senders/webhook/targets.js';
import { checkEvaluate, evaluateConfig } from './config.js';
import { EvaluateExporter } from './evaluate-exporter.js';

export const evaluateExporter: ExporterFactory<typeof evaluateConfig> = {
  kind: 'exporter',
  type: 'evaluate',
  description: 'Scores runs that have ended, by expressions, a model as judge, or plugins.',
  stability: 'alpha',
  signals: ['events'],
  configSchema: evaluateConfig,
  delivery: 'queued',
  // One run per batch, so that each is retried separately.
  deliveryConfig: (config) => ({
    ...config,
    queue: { ...config.queue, batch: { ...config.queue.batch, max_items: 1 } },
  }),
  check: checkEvaluate,
  resources: ({ targets, judge }) => [
    ...resourcesOfTargets(targets),
    ...[judge?.tls?.cert_file, judge?.tls?.key_file]
      .filter((path) => path !== undefined)
      .map((path) => ({ kind: 'readable_file' as const, path })),
  ],
  create: (settings) => new EvaluateExporter(settings),
};
