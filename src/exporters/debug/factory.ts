import type { ExporterFactory } from '../../component/factory.js';
import { SIGNALS } from '../../signal/batch.js';
import { debugConfig } from './config.js';
import { DebugExporter } from './debug-exporter.js';

export const debugExporter: ExporterFactory<typeof debugConfig> = {
  kind: 'exporter',
  type: 'debug',
  description: 'Writes everything that passes to the daemon’s own log, for setting up a pipeline.',
  stability: 'beta',
  signals: SIGNALS,
  configSchema: debugConfig,
  delivery: 'direct',
  create: (settings) => new DebugExporter(settings),
};
