import type { MessagePort } from 'node:worker_threads';
import { PortClient } from '../worker/port-client.js';
import { plainError } from '../worker/thread-protocol.js';
import type {
  ClaimRequest,
  Claims,
  DeliveryClaim,
  DeliveryStore,
  FinishedAttempt,
  FinishedRules,
} from './delivery-store.js';

/** What the store gives unasked, as what it has just queued was due. */
export interface PushedClaims {
  /** From 1, one after the other. */
  readonly number: number;
  readonly claims: readonly DeliveryClaim[];
}

/**
 * The part of a {@link DeliveryStore} that a sender in a thread of its own needs, over the port of `openSender`: neither what
 * it asks nor what it is given passes through the thread that serves HTTP, where a message waits for some 50 ms under load.
 */
export class SenderQueue implements Pick<DeliveryStore, 'claimDeliveries' | 'finishDeliveries'> {
  readonly #port: MessagePort;
  readonly #client: PortClient;
  /** The number of the last push that came. */
  #heard = 0;

  /** @param onClaims is told at once of what the store gives unasked: attempts that are the sender's to make */
  constructor(port: MessagePort, onClaims: (claims: readonly DeliveryClaim[]) => void) {
    this.#port = port;
    this.#client = new PortClient(port, {
      // Whatever the store says: it is asked again.
      revive: plainError,
      onNotice: (_, value) => {
        const { number, claims } = value as PushedClaims;
        this.#heard = number;
        onClaims(claims);
      },
    });
    port.on('close', () => {
      this.#client.end(new Error('the store is closed'));
    });
  }

  async claimDeliveries(request: ClaimRequest): Promise<Claims> {
    return await this.#client.call('claimDeliveries', [{ ...request, heard: this.#heard }]);
  }

  async finishDeliveries(
    finished: readonly FinishedAttempt[],
    rules: FinishedRules,
  ): Promise<readonly string[]> {
    return await this.#client.call('finishDeliveries', [finished, rules]);
  }

  /** Resolves when everything has come that is given unasked; from then on only claims are answered. */
  async endPushes(): Promise<void> {
    await this.#client.call('endPushes', []);
  }

  close(): void {
    this.#port.close();
  }
}
