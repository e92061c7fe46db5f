import type { StartSending } from '../../src/exporters/webhook/lazy-sending.js';
import { Sending, type SendingTools } from '../../src/exporters/webhook/sending.js';

/** Starts sending in the test's thread with controlled dependencies. */
export function sendingHere(surroundings: Pick<SendingTools, 'clock' | 'random' | 'resolve'>): StartSending {
  return async ({ options, control, secrets, logger, events }) => {
    const { deliveries: queue, watch } = control;
    const sending = new Sending(options, { ...surroundings, queue, watch, secrets, logger, events });
    return {
      wake: () => {
        sending.wake();
      },
      stop: async (deadline) => {
        await sending.stop(deadline);
        await sending.close();
      },
    };
  };
}
