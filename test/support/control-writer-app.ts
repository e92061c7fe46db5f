import type { ControlStore } from '../../src/storage/contracts/control-store.js';
import { ControlExtension } from '../../src/storage/control/control-extension.js';
import { connectControl } from '../../src/storage/control/control-client.js';
import { componentSettings } from './component-settings.js';
import { anEvent } from './event-records.js';
import { StatusHost } from './status-host.js';

/**
 * A process that a test kills: it opens the control store (first argument) like the daemon and appends facts endlessly, `FACTS` at a
 * time, each time with a mark that counts them. Half of the writers have their own port to the store thread. Acknowledged writes are
 * printed as lines: source and mark.
 */

const FACTS = 3;

const WRITERS = 4;
const [, , path = ''] = process.argv;
const extension = new ControlExtension(componentSettings('sqlite'), { engine: 'sqlite', path });
await extension.start(new StatusHost().host);
const stores = [extension, await connectControl(await extension.connect())];

await Promise.all(
  Array.from({ length: WRITERS }, (_, writer) =>
    write(stores[writer % stores.length] ?? extension, `${String(process.pid)}-${String(writer)}`),
  ),
);

async function write({ events }: ControlStore, source: string): Promise<never> {
  for (let count = 1; ; count++) {
    const facts = Array.from({ length: FACTS }, (_, i) => ({
      fact: `${source}:${String(count)}:${String(i)}`,
      tenant: source,
      event: anEvent(count * FACTS + i, 'agent.created', { source, count }),
    }));
    await events.append(facts, { source, mark: String(count) });
    process.stdout.write(`${source} ${String(count)}\n`);
    // A pipe is flushed between turns of the event loop.
    if (count % 8 === 0) await new Promise(setImmediate);
  }
}
