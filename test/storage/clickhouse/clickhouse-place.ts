import type { ClickHouseOptions } from '../../../src/storage/clickhouse/clickhouse-options.js';
import type { ClickHouseServer } from '../../support/clickhouse-server.js';

/** Options of a store of a test, in a database of its own. */
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
