import type { SecretBox } from '../../component/secret-box.js';
import type { Logger } from '../../component/telemetry.js';
import type { ControlStore } from '../../storage/contracts/control-store.js';
import type { SendingEvents, SendingOptions } from './sending.js';

/** Parameters for starting the sender, in any thread. */
export interface SendingSetup {
  readonly options: SendingOptions;
  readonly control: ControlStore;
  readonly secrets: Pick<SecretBox, 'open'>;
  readonly logger: Logger;
  readonly events: SendingEvents;
  /** Called after an unexpected end. */
  readonly onCrash: (error: Error) => void;
}

/** The running sender. */
export interface RunningSending {
  /** Called when more deliveries may be due. */
  wake(): void;
  /** Stops claiming, waits for attempts in progress, aborts them at the deadline, and releases all resources. */
  stop(deadline: AbortSignal): Promise<void>;
}

/** Starts the sender, which finds due deliveries itself. */
export type StartSending = (setup: SendingSetup) => Promise<RunningSending>;

/** Starts the sender on first use: a daemon without endpoints has no overhead. */
export class LazySending {
  readonly #start: () => Promise<RunningSending>;
  readonly #onFailure: (error: unknown) => void;
  #running: Promise<RunningSending | null> | null = null;
  #isStopped = false;

  /** @param onFailure receives the error of a failed start */
  constructor(start: () => Promise<RunningSending>, onFailure: (error: unknown) => void) {
    this.#start = start;
    this.#onFailure = onFailure;
  }

  /** Starts the sender. Once running, it receives hints of new deliveries itself. */
  begin(): void {
    if (this.#isStopped) return;
    this.#running ??= this.#start().catch((error: unknown) => {
      this.#onFailure(error);
      return null;
    });
  }

  /** Wakes the sender in case hints were lost. */
  wake(): void {
    if (this.#running === null) this.begin();
    else void this.#running.then((running) => running?.wake());
  }

  /** Like {@link RunningSending.stop}; awaits a pending start. No start is possible afterwards. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#isStopped = true;
    const running = await this.#running;
    await running?.stop(deadline);
  }
}
