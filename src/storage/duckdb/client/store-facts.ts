import { MessageChannel } from 'node:worker_threads';
import type { Clock, Logger } from '../../../component/telemetry.js';
import { SparseLog } from '../../../telemetry/sparse-log.js';
import type { ThreadClient } from '../../../worker/thread-client.js';
import type { FactConnector } from '../../fact-port.js';
import type { FactNews, FactPage } from '../../fact-source.js';

/** The facts of a store thread. @param storeId names it among all that bring facts */
export function factsOf(thread: ThreadClient, storeId: string): FactConnector {
  return {
    name: sourceOf(storeId),
    readFacts: (mark, limit, abort) => thread.call<FactPage>('readFacts', [mark, limit], { abort }),
    connectFacts: async () => {
      const { port1, port2 } = new MessageChannel();
      await thread.call('connectFacts', [port1], { transfer: [port1] });
      return port2;
    },
  };
}

/** The name of a store among all that bring facts. */
export function sourceOf(storeId: string): string {
  return `duckdb/${storeId}`;
}

/** Says how facts come into the log of events. */
export class FactReports implements FactNews {
  readonly #logger: Logger;
  readonly #log: SparseLog;
  readonly #onFailing: (isFailing: boolean) => void;
  #isFailing = false;

  /** @param onFailing is told when they cannot be brought, and when they can again */
  constructor(logger: Logger, clock: Clock, onFailing: (isFailing: boolean) => void) {
    this.#logger = logger;
    this.#log = new SparseLog(logger, clock);
    this.#onFailing = onFailing;
  }

  failing(error: Error | null): void {
    if (error !== null)
      this.#log.warn(
        0,
        { err: error },
        'Events of telemetry were not brought into the log; it is tried again',
      );
    const isFailing = error !== null;
    if (isFailing === this.#isFailing) return;
    this.#isFailing = isFailing;
    this.#onFailing(isFailing);
  }

  passedOver(events: number): void {
    this.#logger.error({ events }, 'Events of users that there are not were passed over');
  }
}
