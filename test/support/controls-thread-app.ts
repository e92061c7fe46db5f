import { parentPort, type MessagePort } from 'node:worker_threads';
import { SqlControlStore } from '../../src/storage/control/sql-control-store.js';
import { serveControl } from '../../src/storage/control/serve-control.js';
import { openSqlite } from '../../src/storage/control/sqlite/open-sqlite.js';
import { MessageBatcher } from '../../src/worker/message-batcher.js';
import type { ThreadMessage } from '../../src/worker/thread-protocol.js';
import { serve } from '../../src/worker/thread-server.js';
import { SharedClock } from './shared-clock.js';

/** The thread of `ControlsThread`. */

const port = parentPort;
if (port === null) throw new Error('controls-thread-app.js runs as a worker thread only');

/** By path. */
const stores = new Map<string, SqlControlStore>();

async function close(path: string): Promise<void> {
  await stores.get(path)?.close();
  stores.delete(path);
}

serve(port, new MessageBatcher<ThreadMessage>(port), {
  close,
  open: async (path: string, clock: SharedArrayBuffer) => {
    await close(path);
    stores.set(path, new SqlControlStore(await openSqlite({ path, clock: new SharedClock(clock) })));
  },
  connect: (path: string, connected: MessagePort) => {
    const store = stores.get(path);
    if (store === undefined) throw new Error(`there is no store ${path}`);
    serveControl(store, connected);
  },
});
