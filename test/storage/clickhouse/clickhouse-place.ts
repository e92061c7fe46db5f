import type { ClickHouseOptions } from '../../../src/storage/clickhouse/clickhouse-options.js';
import type { ClickHouseServer } from '../../support/clickhouse-server.js';

/** Options for a test store in its own database. */
export function clickHouseOptions(
  server: ClickHouseServer,
  changes: Partial<ClickHouseOptions> = {},
): ClickHouseOptions {
  return {
    urls: [server.url],
    database: server.newDatabase(),
    username: 'default',
    password: server.password,
    tls: { ca: undefined, cert: undefined, key: undefined },
    cluster: null,
    isReplicated: false,
    migrates: true,
    connections: 8,
    timeoutMs: 20_000,
    groupRows: 10_000,
    maxQueueBytes: 64 * 1024 * 1024,
    retention: { traces: null, metrics: null, logs: null },
    ...changes,
  };
}
