import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { systemClock } from '../../telemetry/system-clock.js';
import { noticeLogger, type LogNotice } from '../../worker/notice-logger.js';
import { Outbox } from '../../worker/outbox.js';
import type { ThreadMessage } from '../../worker/thread-protocol.js';
import { serve } from '../../worker/thread-server.js';
import type { ControlOptions } from './control-options.js';
import { openControl } from './open-control.js';
import { watchReach } from './reach.js';
import { methodsOf, servePlane, tellChanges } from './remote/serve-plane.js';

/** The control thread, the only one that has the control store. `control-extension.ts` starts it. */

const port = parentPort;
if (port === null) throw new Error('control-thread.js runs as a worker thread only');

const outbox = new Outbox<ThreadMessage>(port);
const sendLine = (line: LogNotice): void => {
  outbox.post({ kind: 'notice', notice: 'log', value: line });
};
const options = workerData as ControlOptions;
const opening = openControl(options, { clock: systemClock, logger: noticeLogger(sendLine, false) });
// Whoever calls `open` gets the error; until then it must not count as an unhandled rejection.
opening.catch(() => undefined);

let endReach = (): void => undefined;
let hurry = (): void => undefined;
const hurried = new Promise<void>((resolve) => (hurry = resolve));

serve(port, outbox, {
  ...methodsOf(opening, outbox),
  open: async () => {
    const store = await opening;
    tellChanges(store, outbox);
    endReach = watchReach(
      systemClock,
      () => store.check(),
      (trouble) => {
        outbox.post({ kind: 'notice', notice: 'reach', value: trouble }, [], true);
      },
    );
    return store.directory;
  },
  size: async () => await (await opening).size(),
  connect: async (connected: MessagePort) => {
    servePlane(await opening, connected);
  },
  close: async () => {
    endReach();
    // A server that does not answer is not waited for: it rolls back what it was not told to commit.
    await Promise.race([(await opening).close(), hurried]);
  },
  hurry,
});
