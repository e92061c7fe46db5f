import type { MessagePort } from 'node:worker_threads';
import { PortClient, type CallOptions } from '../../../worker/port-client.js';
import type { ControlPlane } from '../../contracts/control-plane.js';
import { reviveError } from '../../contracts/errors.js';
import { RemotePlane } from './remote-plane.js';
import { controlUnavailable } from './unavailable.js';

/** A control plane over a port, until it is closed. */
export interface RemoteControl extends ControlPlane {
  /** Closes the port. Calls that were not answered fail; the work itself goes on. */
  close(): void;
}

/**
 * The control plane at the other end of a port of `ControlConnector.connect`. Hints of changes that a call over the same port
 * made come before the answer of that call; those of others' changes at any time after the commit.
 *
 * @throws ConsumeError `storage_unavailable` where the other end was closed
 */
export async function controlOver(port: MessagePort): Promise<RemoteControl> {
  const plane = new PortPlane(port);
  await plane.open();
  return plane;
}

class PortPlane extends RemotePlane implements RemoteControl {
  readonly #port: MessagePort;
  readonly #client: PortClient;
  #directory: string | null = null;

  constructor(port: MessagePort) {
    super();
    this.#port = port;
    this.#client = new PortClient(port, {
      revive: (error) => reviveError(error),
      onNotice: (notice, value) => {
        this.heard(notice, value);
      },
    });
    port.on('close', () => {
      this.#client.end(controlUnavailable('The control store is closed.'));
    });
  }

  override get directory(): string | null {
    return this.#directory;
  }

  protected override async call<Result>(
    method: string,
    args: readonly unknown[],
    options?: CallOptions,
  ): Promise<Result> {
    return await this.#client.call<Result>(method, args, options);
  }

  async open(): Promise<void> {
    this.#directory = await this.#client.call<string | null>('directory', []);
  }

  close(): void {
    this.#port.close();
  }
}
