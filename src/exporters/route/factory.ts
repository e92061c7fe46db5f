import type { ExporterFactory } from '../../component/factory.js';
import { TELEMETRY_SIGNALS } from '../../signal/batch.js';
import { checkRoute, pipelinesOf, routeConfig } from './config.js';
import { RouteExporter } from './route-exporter.js';

export const routeExporter: ExporterFactory<typeof routeConfig> = {
  kind: 'exporter',
  type: 'route',
  description:
    'Passes each trace, metric point and log record on to the pipelines of the first route that matches.',
  stability: 'beta',
  signals: TELEMETRY_SIGNALS,
  configSchema: routeConfig,
  delivery: 'direct',
  check: checkRoute,
  pipelines: pipelinesOf,
  create: (settings) => new RouteExporter(settings),
};
