import type { ExporterFactory } from '../../component/factory.js';
import { resourcesOfTargets } from '../../delivery/senders/webhook/targets.js';
import { AlertsExporter } from './alerts-exporter.js';
import { alertsConfig, checkAlerts } from './config.js';

export const alertsExporter: ExporterFactory<typeof alertsConfig> = {
  kind: 'exporter',
  type: 'alerts',
  description: 'Evaluates alerts as telemetry arrives and sends their notices by e-mail and webhook.',
  stability: 'beta',
  signals: ['traces', 'metrics'],
  configSchema: alertsConfig,
  delivery: 'direct',
  needsSmtp: true,
  placement: () => 'any',
  check: checkAlerts,
  resources: ({ targets }) => resourcesOfTargets(targets),
  create: (settings) => new AlertsExporter(settings),
};
