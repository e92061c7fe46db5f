import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import { DEFAULT_CONFIG } from '../../src/cli/default-config.js';
import { runInProcess, type CommandOutput } from './cli.js';
import type { ClickHouseServer } from './clickhouse-server.js';
import type { TestDaemonOptions } from './daemon.js';
import { testConfig } from './test-config.js';
import { testFolder } from './test-folder.js';

/** YAML overlay that stores telemetry in ClickHouse. @param control extension of the control store */
export function inClickHouse(
  { url, password }: ClickHouseServer,
  database: string,
  control: 'postgres' | 'sqlite' = 'postgres',
): string {
  return `
extensions:
  clickhouse: { urls: ['${url}'], database: ${database}, password: ${password}, control: ${control} }
  query: { store: clickhouse }
exporters: { storage: { store: clickhouse }, alerts: { store: clickhouse } }
processors: { quota: { store: clickhouse } }
service: { extensions: [${control}, clickhouse, query, health] }
`;
}

/** Store locations of a daemon, and its configuration files. */
export class TransferPlace {
  readonly directory: string;
  readonly overlay: string;
  readonly postgres: string | undefined;
  /** `--config FILE` for each file. */
  readonly files: readonly string[];

  constructor(
    t: Pick<Test, 'testdir' | 'teardown'>,
    of: { readonly overlay?: string; readonly postgres?: string; readonly directory?: string } = {},
  ) {
    this.directory = of.directory ?? testFolder(t);
    this.overlay = of.overlay ?? '';
    this.postgres = of.postgres;
    const { sources } = testConfig(this.directory, this.overlay, undefined, this.postgres);
    this.files = sources
      .filter((source) => source !== DEFAULT_CONFIG && source.text !== '')
      .flatMap(({ file, text }) => {
        const path = join(this.directory, file);
        writeFileSync(path, text);
        return ['--config', path];
      });
  }

  /** Arguments that start a daemon with these stores. */
  daemon(key: string): TestDaemonOptions {
    return {
      directory: this.directory,
      overlay: this.overlay,
      key,
      ...(this.postgres !== undefined && { postgres: this.postgres }),
    };
  }

  /** `jackdaw import` into its stores. */
  async import(from: string): Promise<CommandOutput> {
    return await runInProcess(['import', '--from', from, ...this.files]);
  }

  /** `jackdaw export --offline` of its stores. */
  async exportOffline(to: string): Promise<CommandOutput> {
    return await runInProcess(['export', '--offline', '--to', to, ...this.files]);
  }
}
