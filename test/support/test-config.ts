import { join } from 'node:path';
import { generateKey } from '../../src/auth/keys.js';
import { DEFAULT_CONFIG } from '../../src/cli/default-config.js';
import type { ConfigSource } from '../../src/config/load.js';
import { postgresOverlay } from './postgres-config.js';

/** A configuration for a test: the built-in one, every port free, every file in a folder of the test's own. */
export interface TestConfig {
  readonly sources: readonly ConfigSource[];
  /** The first API key, with every scope. */
  readonly key: string;
}

/** YAML that gives every listener a free port, and every file a place in a folder. Different texts for port 0 are different listeners. */
export function portsOverlay(directory: string, key: string): string {
  return `auth: { bootstrap_key: ${key} }
extensions:
  # No test needs the room but those of full disks.
  duckdb: { path: ${JSON.stringify(join(directory, 'jackdaw.duckdb'))}, reserve: 0 }
  sqlite: { path: ${JSON.stringify(join(directory, 'jackdaw.control.db'))} }
  query: { endpoint: 127.0.0.1:0, export_root: / }
  health: { endpoint: localhost:0 }
receivers:
  trace_batch: { endpoint: 127.0.0.1:0 }
  otlp:
    protocols: { http: { endpoint: 127.0.0.1:000 }, grpc: { endpoint: 127.0.0.1:0 } }
    api_endpoint: 127.0.0.1:0
service:
  telemetry:
    logs: { format: json }
    metrics: { endpoint: 127.0.0.1:00 }
`;
}

/**
 * @param directory where the stores lie
 * @param overlay YAML laid over it, as a further `--config` would be
 * @param key the first key; made up where absent
 * @param postgres URL of a database that has the control store; in a file where absent
 */
export function testConfig(
  directory: string,
  overlay = '',
  key = generateKey(),
  postgres?: string,
): TestConfig {
  return {
    key,
    sources: [
      DEFAULT_CONFIG,
      { file: 'test.yaml', text: portsOverlay(directory, key) },
      ...(postgres === undefined ? [] : [{ file: 'postgres.yaml', text: postgresOverlay(postgres) }]),
      { file: 'overlay.yaml', text: overlay },
    ],
  };
}
