import type { SecretBox } from '../../component/secret-box.js';
import type { Logger } from '../../component/telemetry.js';
import type { ControlStore } from '../../storage/contracts/control-store.js';
import type { SendingEvents, SendingOptions } from './sending.js';

/** What sending is begun with, wherever it runs. */
export interface SendingSetup {
  readonly options: SendingOptions;
  readonly control: ControlStore;
  readonly secrets: Pick<SecretBox, 'open'>;
  readonly logger: Logger;
  readonly events: SendingEvents;
  /** It ended although nobody asked it to. */
  readonly onCrash: (error: Error) => void;
}

/** Sending that was begun. */
export interface RunningSending {
  /** Says that more may be due. */
  wake(): void;
  /** Takes no more, waits for what is under way, breaks off what is not done by the deadline, and lets go of everything. */
  stop(deadline: AbortSignal): Promise<void>;
}

/** Begins sending. What is due then it finds by itself. */
export type StartSending = (setup: SendingSetup) => Promise<RunningSending>;

/** Sending that begins when there is something to send: a daemon without endpoints pays nothing for it. */
export class LazySending {
  readonly #start: () => Promise<RunningSending>;
  readonly #onFailure: (error: unknown) => void;
  #running: Promise<RunningSending | null> | null = null;
  #isStopped = false;

  /** @param onFailure is told why it could not begin */
  constructor(start: () => Promise<RunningSending>, onFailure: (error: unknown) => void) {
    this.#start = start;
    this.#onFailure = onFailure;
  }

  /** Says that there is something to send. Once it has begun it hears of more by itself. */
  begin(): void {
    if (this.#isStopped) return;
    this.#running ??= this.#start().catch((error: unknown) => {
      this.#onFailure(error);
      return null;
    });
  }

  /** Says that more may be due than it was told of: hints may be lost. */
  wake(): void {
    if (this.#running === null) this.begin();
    else void this.#running.then((running) => running?.wake());
  }

  /** As {@link RunningSending.stop}; what is about to begin is awaited. Nothing begins any more. */
  async stop(deadline: AbortSignal): Promise<void> {
    this.#isStopped = true;
    const running = await this.#running;
    await running?.stop(deadline);
  }
}
