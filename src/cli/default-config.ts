import type { ConfigSource } from '../config/load.js';

/** The configuration of `jackdaw run` without `--config`. `config.example.yaml` shows it with every key. */
export const DEFAULT_CONFIG: ConfigSource = {
  file: 'built-in configuration',
  isBuiltIn: true,
  text: `extensions:
  sqlite: { path: ./data/jackdaw.control.db }
  duckdb: { path: ./data/jackdaw.duckdb, control: sqlite }
  query: { endpoint: 127.0.0.1:4319, store: duckdb, control: sqlite }
  ui: { api: query }
  mcp: { api: query }
  health: { endpoint: 127.0.0.1:13133 }
receivers:
  trace_batch: { endpoint: 127.0.0.1:4319 }
  otlp:
    protocols: { http: { endpoint: 127.0.0.1:4318 }, grpc: { endpoint: 127.0.0.1:4317 } }
  scores: {}
  outbox: { control: sqlite }
processors:
  validation: {}
  quota: {}
  cost: {}
  service_map: {}
exporters:
  storage: { store: duckdb }
  webhook: { control: sqlite }
  alerts: { store: duckdb, control: sqlite }
service:
  extensions: [sqlite, duckdb, query, ui, mcp, health]
  pipelines:
    traces:
      receivers: [trace_batch, otlp]
      processors: [validation, quota, cost, service_map]
      exporters: [storage, alerts]
    metrics: { receivers: [otlp], processors: [validation, quota], exporters: [storage, alerts] }
    logs: { receivers: [otlp, scores], processors: [validation, quota], exporters: [storage] }
    events: { receivers: [outbox], exporters: [webhook] }
  telemetry:
    metrics: { endpoint: 127.0.0.1:8888 }
`,
};
