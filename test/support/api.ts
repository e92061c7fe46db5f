import type { Test } from 'tap';
import { Type } from 'typebox';
import type { ExtensionFactory } from '../../src/component/factory.js';
import type { Route } from '../../src/component/http.js';
import { isControlPlane, type ControlPlane } from '../../src/storage/control-plane.js';
import { ApiCaller } from './api-caller.js';
import { startTestDaemon, type TestDaemonOptions } from './daemon.js';
import { clickHouseOverlay, IS_ON_CLICKHOUSE } from './clickhouse-config.js';
import { databaseOf } from './postgres-config.js';
import { testFolder } from './test-folder.js';

const ENDPOINT = '127.0.0.1:0';

export interface TestApi extends ApiCaller {
  /** Every operation of the API's listener. */
  readonly routes: readonly Route[];
  /** To have deliveries without anybody who sends, and alerts fire without anybody who evaluates them. */
  readonly control: ControlPlane;
  readonly directory: string;
  readonly logs: readonly string[];
  stop(): Promise<void>;
}

/** A whole daemon with the default pipeline and real stores, to be called over its API. It ends with the test. */
export async function startApi(
  t: Pick<Test, 'testdir' | 'teardown'>,
  options: {
    readonly allowedOrigins?: readonly string[];
    readonly authEnabled?: boolean;
    readonly directory?: string;
    readonly key?: string;
    /** `secrets.key`; none where absent. */
    readonly secretsKey?: string;
    /** The exporters of the pipelines; those of the built-in configuration where absent. */
    readonly exporters?: readonly string[];
  } = {},
): Promise<TestApi> {
  const { allowedOrigins = [], authEnabled = true, secretsKey, exporters, key } = options;
  const directory = options.directory ?? testFolder(t);
  const postgres = await databaseOf(directory);
  const controlId = postgres === undefined ? 'sqlite' : 'postgres';
  let routes: () => readonly Route[] = () => [];
  let control: ControlPlane | undefined;
  const witness: ExtensionFactory = {
    kind: 'extension',
    type: 'witness',
    description: 'Sees the routes of the API listener, and the store.',
    stability: 'development',
    configSchema: Type.Object({}),
    create: () => ({
      start: async (host) => {
        const listener = host.listener(ENDPOINT);
        routes = () => listener.routes();
        control = host.extension(controlId, isControlPlane);
      },
    }),
  };
  const stores = clickHouseOverlay(directory, controlId);
  const overlay = JSON.stringify({
    ...stores,
    auth: { enabled: authEnabled },
    ...(secretsKey === undefined ? {} : { secrets: { key: secretsKey } }),
    extensions: {
      ...stores.extensions,
      query: { ...stores.extensions?.query, cors: { allowed_origins: allowedOrigins } },
      witness: {},
    },
    service: {
      extensions: [controlId, IS_ON_CLICKHOUSE ? 'clickhouse' : 'duckdb', 'query', 'ui', 'health', 'witness'],
      ...(exporters === undefined ? {} : { pipelines: { traces: { exporters }, metrics: { exporters } } }),
    },
  });
  const daemonOptions: TestDaemonOptions = {
    directory,
    overlay,
    factories: [witness],
    ...(key !== undefined && { key }),
    ...(postgres !== undefined && { postgres }),
  };
  const { daemon, logs, ...started } = await startTestDaemon(t, daemonOptions);
  if (!control) throw new Error('the witness has started with the daemon');
  return Object.assign(new ApiCaller(started.url, started.key), {
    // Pages and their files, where they are built, are no operations.
    routes: routes().filter(({ operation }) => operation !== undefined),
    control,
    directory,
    logs,
    stop: async () => {
      await daemon.shutdown();
    },
  });
}
