import type { MessagePort } from 'node:worker_threads';
import { contractOver } from '../../worker/contract-over.js';
import { PortClient, type CallOptions } from '../../worker/port-client.js';
import type { SerializedError } from '../../worker/thread-protocol.js';
import {
  CONTROL_METHODS,
  type ControlContract,
  type ControlContracts,
  type ControlStore,
} from '../contracts/control-store.js';
import type { Topic, Watch } from '../contracts/coordination.js';
import { deserializeError, unavailable } from '../contracts/errors.js';
import type { FactIntake, IntakeListener, OutboxSource } from '../contracts/events.js';
import { factPort } from '../shared/outbox-port.js';
import { TopicListeners } from './topic-listeners.js';

/** The notice that a topic has changed; its value is the topic. */
export const CHANGED = 'changed';

/** The notice about an intake of facts; its value is an {@link IntakeNotice}. */
export const INTAKE_NOTICE = 'intake';

/** The arguments of an `IntakeListener`. */
export interface IntakeNotice {
  /** The number that the client assigned to the intake. */
  readonly intake: number;
  readonly update: { readonly failing: SerializedError | null } | { readonly passedOver: number };
}

/** The name of a method of a contract in calls. */
export function callName(contract: string, method: string): string {
  return `${contract}.${method}`;
}

/** Has the fields that `Object.assign` adds below, which the compiler cannot see. */
const WithContracts = Object as unknown as new () => ControlContracts;

/** A control store that runs in another thread. */
export abstract class ControlClient extends WithContracts implements ControlStore {
  abstract readonly directory: string | null;
  readonly #watch = new TopicListeners();
  /** By the numbers of intakes. */
  readonly #listeners = new Map<number, IntakeListener>();
  #intakes = 0;

  constructor() {
    super();
    const contracts = Object.keys(CONTROL_METHODS).map((name) => [
      name,
      this.#contract(name as ControlContract),
    ]);
    Object.assign(this, Object.fromEntries(contracts));
  }

  get watch(): Watch {
    return this.#watch;
  }

  async identity(): Promise<string> {
    return await this.call('identity', []);
  }

  async takeFacts(source: OutboxSource, listener: IntakeListener): Promise<FactIntake> {
    const intake = ++this.#intakes;
    const port = await factPort(source);
    this.#listeners.set(intake, listener);
    try {
      await this.call('takeFacts', [intake, source.name, port], { transfer: [port] });
    } catch (error) {
      this.#listeners.delete(intake);
      // Does nothing once the port was sent: then the other side closes it.
      port.close();
      throw error;
    }
    return {
      stop: async () => {
        this.#listeners.delete(intake);
        await this.call('stopFacts', [intake]);
      },
    };
  }

  /** Calls a method in the store's thread. @throws the deserialized error of the method */
  protected abstract call<Result>(
    method: string,
    args: readonly unknown[],
    options?: CallOptions,
  ): Promise<Result>;

  /** Must be called with every notice of the thread. @returns whether the notice was handled */
  protected handleNotice(notice: string, value: unknown): boolean {
    if (notice === CHANGED) {
      // Synchronously, so that listeners run before the answer that follows the hint.
      for (const listener of this.#watch.of(value as Topic)) listener();
    } else if (notice === INTAKE_NOTICE) this.#handleFacts(value as IntakeNotice);
    else return false;
    return true;
  }

  #contract(name: ControlContract): unknown {
    return contractOver<unknown>(CONTROL_METHODS[name], (method, args, abort) =>
      // A signal that has already fired makes the call return at once.
      this.call(callName(name, method), args, abort === undefined || abort.aborted ? {} : { abort }),
    );
  }

  #handleFacts({ intake, update }: IntakeNotice): void {
    const listener = this.#listeners.get(intake);
    if ('passedOver' in update) listener?.passedOver(update.passedOver);
    else listener?.failing(update.failing && deserializeError(update.failing));
  }
}

/** A control client over a port, until it is closed. */
export interface ConnectedControl extends ControlStore {
  /** Closes the port. Pending calls fail; their work continues. */
  close(): void;
}

/**
 * Creates a control client over a port of `ControlConnector.connect`. Hints of changes made over the same port arrive before the answer
 * of the call; hints of other changes arrive at any time after the commit.
 *
 * @throws ConsumeError `storage_unavailable` if the other side closed the port
 */
export async function connectControl(port: MessagePort): Promise<ConnectedControl> {
  const client = new PortControl(port);
  await client.open();
  return client;
}

class PortControl extends ControlClient implements ConnectedControl {
  readonly #port: MessagePort;
  readonly #client: PortClient;
  #directory: string | null = null;

  constructor(port: MessagePort) {
    super();
    this.#port = port;
    this.#client = new PortClient(port, {
      deserializeError: (error) => deserializeError(error),
      onNotice: (notice, value) => {
        this.handleNotice(notice, value);
      },
    });
    port.on('close', () => {
      this.#client.end(unavailable('The control store is closed.'));
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
