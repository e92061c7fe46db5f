import tap, { type Test } from 'tap';
import { Type } from 'typebox';
import { SCOPES } from '../../src/component/identity.js';
import type { ExtensionFactory } from '../../src/component/factory.js';
import type { Route } from '../../src/component/http.js';
import { isControlStore, type ControlStore } from '../../src/storage/contracts/control-store.js';
import { ApiCaller } from './api-caller.js';
import { startTestDaemon, type TestDaemonOptions } from './daemon.js';
import { clickHouseOverlay, IS_ON_CLICKHOUSE } from './clickhouse-config.js';
import { databaseOf } from './postgres-config.js';
import { testFolder } from './test-folder.js';

const ENDPOINT = '127.0.0.1:0';

export interface TestApi extends ApiCaller {
  /** Every operation on the API listener. */
  readonly routes: readonly Route[];
  /** For deliveries without a sender and alerts without an evaluator. */
  readonly control: ControlStore;
  readonly directory: string;
  readonly logs: readonly string[];
  stop(): Promise<void>;
}

/** Whether default tests of this process share one daemon, each as its own user: `files-together.ts`. */
const IS_SHARED = process.env['JACKDAW_TEST_SHARED_API'] === '1';

/** Daemon options of a test. */
interface ApiOptions {
  readonly allowedOrigins?: readonly string[];
  readonly authEnabled?: boolean;
  readonly directory?: string;
  readonly key?: string;
  /** `secrets.key`; none by default. */
  readonly secretsKey?: string;
  /** The exporters of the pipelines; those of the default configuration by default. */
  readonly exporters?: readonly string[];
}

/** A whole daemon with the default pipeline and real stores, called over its API. It ends with the test unless shared. */
export async function startApi(
  t: Pick<Test, 'testdir' | 'teardown'>,
  options: ApiOptions = {},
): Promise<TestApi> {
  return IS_SHARED && Object.keys(options).length === 0 ? await asNewUser() : await startOwn(t, options);
}

let shared: Promise<TestApi> | undefined;
let users = 0;

/** The shared daemon, as seen by the user of a test. */
async function asNewUser(): Promise<TestApi> {
  shared ??= startOwn(tap, {});
  const api = await shared;
  const { key } = await api.createUser(`test-${++users}@example.org`, SCOPES);
  const stop = async (): Promise<void> => {
    throw new Error('a shared daemon is not stopped by a test: run the file by itself');
  };
  const { routes, control, directory, logs } = api;
  return Object.assign(new CallerOfMany(api.url, key, users), { routes, control, directory, logs, stop });
}

/** A shared daemon: e-mail addresses are unique per test. */
class CallerOfMany extends ApiCaller {
  readonly #number: number;

  constructor(url: string, key: string, number: number) {
    super(url, key);
    this.#number = number;
  }

  override async createUser(
    ...[email, scopes]: Parameters<ApiCaller['createUser']>
  ): ReturnType<ApiCaller['createUser']> {
    return await super.createUser(`${this.#number}.${email}`, scopes);
  }
}

async function startOwn(t: Pick<Test, 'testdir' | 'teardown'>, options: ApiOptions): Promise<TestApi> {
  const { allowedOrigins = [], authEnabled = true, secretsKey, exporters, key } = options;
  const directory = options.directory ?? testFolder(t);
  const postgres = await databaseOf(directory);
  const controlId = postgres === undefined ? 'sqlite' : 'postgres';
  let routes: () => readonly Route[] = () => [];
  let control: ControlStore | undefined;
  const observer: ExtensionFactory = {
    kind: 'extension',
    type: 'observer',
    description: 'Sees the routes of the API listener, and the store.',
    stability: 'development',
    configSchema: Type.Object({}),
    create: () => ({
      start: async (host) => {
        const listener = host.listener(ENDPOINT);
        routes = () => listener.routes();
        control = host.extension(controlId, isControlStore);
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
      observer: {},
    },
    service: {
      // Many tests share its start.
      ...(IS_SHARED && { intake: { threads: 'auto' } }),
      extensions: [
        controlId,
        IS_ON_CLICKHOUSE ? 'clickhouse' : 'duckdb',
        'query',
        'ui',
        'mcp',
        'health',
        'observer',
      ],
      ...(exporters === undefined ? {} : { pipelines: { traces: { exporters }, metrics: { exporters } } }),
    },
  });
  const daemonOptions: TestDaemonOptions = {
    directory,
    overlay,
    factories: [observer],
    ...(key !== undefined && { key }),
    ...(postgres !== undefined && { postgres }),
  };
  const { daemon, logs, ...started } = await startTestDaemon(t, daemonOptions);
  if (!control) throw new Error('the observer has started with the daemon');
  return Object.assign(new ApiCaller(started.url, started.key), {
    // Pages and their files, if built, are not operations.
    routes: routes().filter(({ operation }) => operation !== undefined),
    control,
    directory,
    logs,
    stop: async () => {
      await daemon.shutdown();
    },
  });
}
