import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { SecretBox } from '../../component/secret-box.js';
import { firstModule } from '../../config/built-module.js';
import { isControlConnector } from '../../storage/contracts/control-store.js';
import { endThread } from '../../worker/end-thread.js';
import { writeNotice, type LogNotice } from '../../worker/notice-logger.js';
import { MessageBatcher } from '../../worker/message-batcher.js';
import { ThreadClient, type ThreadOptions } from '../../worker/thread-client.js';
import { plainError, type ThreadMessage } from '../../worker/thread-protocol.js';
import { serve } from '../../worker/thread-server.js';
import type { RunningSending, SendingSetup } from './lazy-sending.js';
import type { SendingEvents } from './sending.js';
import type { WebhookThreadData } from './webhook-thread.js';

/**
 * Starts the sender in a separate thread with its own connection to the control store. Under load, main thread turns take 50 ms, and
 * a delivery would need several. The secrets key stays in the main thread.
 */
export async function startSendingThread(setup: SendingSetup): Promise<RunningSending> {
  const { options, control, secrets, logger, onCrash } = setup;
  if (!isControlConnector(control)) throw new Error('the control store can be used in one thread only');
  const controlPort = await control.connect();
  const { port1: secretsSide, port2: secretsPort } = new MessageChannel();
  serveSecrets(secretsSide, secrets);
  const workerData: WebhookThreadData = {
    options,
    controlPort,
    secretsPort,
    isDebugEnabled: logger.isDebugEnabled(),
  };
  const thread = startThread([controlPort, secretsPort, secretsSide], {
    module: firstModule(new URL('./webhook-thread.js', import.meta.url)),
    name: 'jackdaw-webhooks',
    workerData,
    transferList: [controlPort, secretsPort],
    deserializeError: plainError,
    ended: (cause) => new Error('the webhook thread ended', { cause }),
    onNotice: (notice, value) => {
      takeNotice(setup, notice, value);
    },
    onCrash,
  });
  return {
    wake: () => {
      // The end of the thread has already been reported.
      thread.call('wake', []).catch(() => undefined);
    },
    stop: async (deadline) => {
      if (!thread.hasEnded) await endThread(thread, 'stop', deadline);
    },
  };
}

/** @param ports closed if the thread cannot be started */
function startThread(ports: readonly MessagePort[], options: ThreadOptions): ThreadClient {
  try {
    return new ThreadClient(options);
  } catch (error) {
    for (const port of ports) port.close();
    throw error;
  }
}

/** Decrypts for the thread with the other port, until that thread ends. */
function serveSecrets(port: MessagePort, secrets: Pick<SecretBox, 'open'>): void {
  serve(port, new MessageBatcher<ThreadMessage>(port), {
    open: (sealed: string, owner: string) => secrets.open(sealed, owner),
  });
}

function takeNotice({ logger, events }: SendingSetup, notice: string, value: unknown): void {
  if (notice === 'log') writeNotice(logger, value as LogNotice);
  else events[notice as keyof SendingEvents](value as never);
}
