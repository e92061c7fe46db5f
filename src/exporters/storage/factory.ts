import type { ExporterFactory } from '../../component/factory.js';
import { extensionId, section } from '../../config/schema.js';
import { StorageExporter } from './storage-exporter.js';

const storageConfig = section({
  store: extensionId({ description: 'Id of the telemetry store.', default: 'duckdb' }),
});

export const storageExporter: ExporterFactory<typeof storageConfig> = {
  kind: 'exporter',
  type: 'storage',
  description: 'Writes to the telemetry store and responds after the commit.',
  stability: 'beta',
  signals: ['traces', 'metrics', 'logs'],
  configSchema: storageConfig,
  delivery: 'direct',
  placement: ({ store }, { signal, encodedSignals }) =>
    encodedSignals(store).includes(signal) ? 'any' : 'main',
  create: ({ id, config }) => new StorageExporter(id, config.store),
};
