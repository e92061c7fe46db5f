import type { StartSending } from '../../src/exporters/webhook/lazy-sending.js';
import { Sending, type SendingTools } from '../../src/exporters/webhook/sending.js';

/** Begins sending in the test's own thread, with surroundings that the test has in its hands. */
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
