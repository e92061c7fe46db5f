import type { Host } from '../component/host.js';
import { Authenticator } from '../auth/authenticator.js';
import { SecretBoxes } from '../auth/secret-boxes.js';
import { isControlStore, type ControlStore } from '../storage/contracts/control-store.js';
import { isPartialTelemetryStore, type PartialTelemetryStore } from '../storage/contracts/telemetry-store.js';
import { buildPipelines, type BuildTools } from './build.js';
import { daemonView } from './daemon-view.js';
import { Deadline } from './deadline.js';
import { createHost } from './host.js';
import { Lifecycle } from './lifecycle.js';
import { Listeners } from './listeners.js';
import type { Prepared } from './prepare.js';
import { StatusBoard } from './status.js';
import { userRates } from './user-limits.js';

/** The stores of a configuration, opened without a daemon. */
export interface OpenStores {
  readonly telemetry: PartialTelemetryStore;
  readonly control: ControlStore;
  /** Resolves when both have released their resources. @returns the errors */
  close(): Promise<readonly Error[]>;
}

/** Time limit for closing the stores. */
const CLOSE_MS = 60_000;

/** Ids of the storage extensions. */
export interface StoreNames {
  readonly store: string;
  readonly control: string;
}

/**
 * Opens two stores of a configuration. No user is created, and nothing listens.
 *
 * @throws Error if one cannot be opened
 */
export async function openStores(
  prepared: Prepared,
  { store, control }: StoreNames,
  tools: BuildTools,
): Promise<OpenStores> {
  const { host, close } = await openExtensions(prepared, [store, control], tools);
  try {
    return {
      telemetry: host.extension(store, isPartialTelemetryStore),
      control: host.extension(control, isControlStore),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Opens the control store alone.
 *
 * @throws Error if it cannot be opened
 */
export async function openControl(
  prepared: Prepared,
  control: string,
  tools: BuildTools,
): Promise<Pick<OpenStores, 'control' | 'close'>> {
  const { host, close } = await openExtensions(prepared, [control], tools);
  try {
    return { control: host.extension(control, isControlStore), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** @throws Error if one cannot be opened; the others are then closed */
async function openExtensions(
  prepared: Prepared,
  ids: readonly string[],
  tools: BuildTools,
): Promise<{ readonly host: Host; readonly close: OpenStores['close'] }> {
  const extensions = prepared.plan.extensions.filter(({ id }) => ids.includes(id));
  const built = buildPipelines({ extensions, pipelines: [] }, tools);
  const status = new StatusBoard(built.extensions, () => undefined);
  const lifecycle = new Lifecycle(built, status);
  const identity = new Authenticator(prepared.config.auth, tools);
  const users = userRates(prepared.config.service.user_limits, tools);
  const parts = {
    extensions: built.extensions,
    listeners: new Listeners(tools, prepared.config, users, () => undefined),
    identity,
    userLimits: users,
    rejections: built.rejections,
    prices: built.prices,
    secretBoxes: new SecretBoxes(prepared.config.secretKeeping),
    smtp: null,
    status,
    daemon: daemonView(() => prepared, built.edges, tools.clock),
  };
  const close = async (): Promise<readonly Error[]> => {
    const deadline = new Deadline(CLOSE_MS, tools.clock);
    const errors = await lifecycle.stopExtensions(deadline);
    deadline.cancel();
    return errors;
  };
  let host: Host | undefined;
  try {
    await lifecycle.start(
      (node) => (host = createHost(node, parts)),
      async () => undefined,
      new AbortController().signal,
    );
    if (host === undefined) throw new Error('the configuration has no stores');
    return { host, close };
  } catch (error) {
    await close();
    throw error;
  }
}
