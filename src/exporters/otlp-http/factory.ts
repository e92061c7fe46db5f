import type { ExporterFactory } from '../../component/factory.js';
import { TELEMETRY_SIGNALS } from '../../signal/batch.js';
import { checkOtlpHttp, otlpHttpConfig } from './config.js';
import { OtlpHttpExporter } from './otlp-http-exporter.js';

export const otlpHttpExporter: ExporterFactory<typeof otlpHttpConfig> = {
  kind: 'exporter',
  type: 'otlp_http',
  description: 'Forwards traces, metrics and logs to another Jackdaw or any OTLP/HTTP server.',
  stability: 'beta',
  signals: TELEMETRY_SIGNALS,
  configSchema: otlpHttpConfig,
  delivery: 'queued',
  check: checkOtlpHttp,
  resources: ({ tls }) =>
    [tls?.ca_file, tls?.cert_file, tls?.key_file]
      .filter((path) => path !== undefined)
      .map((path) => ({ kind: 'readable_file', path })),
  create: (settings) => new OtlpHttpExporter(settings),
};
