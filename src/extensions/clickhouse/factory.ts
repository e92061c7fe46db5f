import type { ExtensionFactory, Resource } from '../../component/factory.js';
import { durationMs } from '../../config/duration.js';
import { sizeBytes } from '../../config/size.js';
import { ClickHouseStore } from '../../storage/clickhouse/clickhouse-store.js';
import { checkClickHouse, clickHouseConfig, daysKept, passwordsIn } from './config.js';

/** Telemetry in ClickHouse, which several daemons may share. See `README.md` in this folder. */
export const clickHouseExtension: ExtensionFactory<typeof clickHouseConfig> = {
  kind: 'extension',
  type: 'clickhouse',
  description: 'Telemetry store in ClickHouse, which several daemons can share.',
  stability: 'alpha',
  configSchema: clickHouseConfig,
  encodedSignals: ['traces', 'metrics', 'logs'],
  check: checkClickHouse,
  secrets: passwordsIn,
  resources: ({ tls }) =>
    [tls?.ca_file, tls?.cert_file, tls?.key_file]
      .filter((path) => path !== undefined)
      .map((path): Resource => ({ kind: 'readable_file', path })),
  create: (settings) => {
    const { urls, database, username, password = '', tls, control, cluster, replicated } = settings.config;
    const { migrate, connections, request_timeout, max_queue_size, group, retention } = settings.config;
    return new ClickHouseStore(settings, {
      urls,
      database,
      username,
      password,
      tls: { ca: tls?.ca_file, cert: tls?.cert_file, key: tls?.key_file },
      control,
      cluster: cluster ?? null,
      isReplicated: replicated,
      migrates: migrate,
      connections,
      timeoutMs: durationMs(request_timeout),
      groupRows: group.max_items,
      maxQueueBytes: sizeBytes(max_queue_size),
      retention: {
        traces: daysKept(retention.traces),
        metrics: daysKept(retention.metrics),
        logs: daysKept(retention.logs),
      },
    });
  },
};
