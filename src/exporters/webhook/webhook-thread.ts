import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import type { SecretBox } from '../../component/secret-box.js';
import { connectControl } from '../../storage/control/control-client.js';
import { systemClock } from '../../telemetry/system-clock.js';
import { noticeLogger } from '../../worker/notice-logger.js';
import { MessageBatcher } from '../../worker/message-batcher.js';
import { PortClient } from '../../worker/port-client.js';
import { plainError, type ThreadMessage } from '../../worker/thread-protocol.js';
import { serve } from '../../worker/thread-server.js';
import { OpenedSecrets } from './opened-secrets.js';
import { Sending, type SendingEvents, type SendingOptions } from './sending.js';

/** The thread that sends webhooks. Its owner is `sending-thread.ts`. */

/** Start parameters of the thread. */
export interface WebhookThreadData {
  readonly options: SendingOptions;
  /** Port from `ControlConnector.connect`. */
  readonly controlPort: MessagePort;
  /** Port to the thread that decrypts secrets. */
  readonly secretsPort: MessagePort;
  /** Whether the main thread's logger, which writes the lines, is at level debug. */
  readonly isDebugEnabled: boolean;
}

const port = parentPort;
if (port === null) throw new Error('webhook-thread.js runs as a worker thread only');
const { options, controlPort, secretsPort, isDebugEnabled } = workerData as WebhookThreadData;

const batcher = new MessageBatcher<ThreadMessage>(port);
const notify =
  (notice: keyof SendingEvents | 'log') =>
  (value: unknown): void => {
    batcher.post({ kind: 'notice', notice, value });
  };

/** Aborts attempts in progress. */
const abortPending = new AbortController();
const control = await connectControl(controlPort);
const sending = new Sending(options, {
  queue: control.deliveries,
  watch: control.watch,
  secrets: new OpenedSecrets(secretsBeyond(secretsPort)),
  clock: systemClock,
  random: Math.random,
  logger: noticeLogger(notify('log'), isDebugEnabled),
  events: {
    attempted: notify('attempted'),
    paused: notify('paused'),
    storeFailing: notify('storeFailing'),
    underWay: notify('underWay'),
  },
});

serve(port, batcher, {
  wake: () => {
    sending.wake();
  },
  abortPending: () => {
    abortPending.abort();
  },
  stop: async () => {
    await sending.stop(abortPending.signal);
    await sending.close();
    control.close();
  },
});

function secretsBeyond(secrets: MessagePort): Pick<SecretBox, 'open'> {
  const client = new PortClient(secrets, { deserializeError: plainError, onNotice: () => undefined });
  return { open: (sealed, owner) => client.call('open', [sealed, owner]) };
}
