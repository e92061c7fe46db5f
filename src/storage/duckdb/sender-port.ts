import type { MessagePort } from 'node:worker_threads';
import { Outbox } from '../../worker/outbox.js';
import type { ThreadMessage } from '../../worker/thread-protocol.js';
import { serve } from '../../worker/thread-server.js';
import type {
  ClaimRequest,
  Claims,
  FinishedAttempt,
  FinishedRules,
  SenderLimits,
} from '../delivery-store.js';
import type { DeliveryTables } from './meta/delivery-tables.js';

/** Lets a sender in a thread of its own reach the queue: the other end of a `SenderQueue`. */
export function serveSender(deliveries: DeliveryTables, limits: SenderLimits, port: MessagePort): void {
  const outbox = new Outbox<ThreadMessage>(port);
  const pushed = deliveries.pushTo(limits, (push) => {
    outbox.post({ kind: 'notice', notice: 'claims', value: push }, [], true);
  });
  port.on('close', () => {
    // What fails then was told to others.
    pushed.end().catch(() => undefined);
  });
  serve(port, outbox, {
    claimDeliveries: async (request: ClaimRequest): Promise<Claims> => {
      // Whoever came later holds claims that this one does not know of.
      if (!pushed.isLast()) return { claims: [], nextDueAt: null };
      const { heard = 0 } = request;
      return await deliveries.claimDeliveries(request, heard);
    },
    finishDeliveries: (finished: readonly FinishedAttempt[], rules: FinishedRules) =>
      deliveries.finishDeliveries(finished, rules),
    endPushes: pushed.end,
  });
}
