import { ControlStore } from '../../src/storage/control/control-store.js';
import { openSqlite } from '../../src/storage/control/sqlite/open-sqlite.js';
import { anEvent } from './event-records.js';
import { HandClock } from './hand-clock.js';

/**
 * A process that is made to be killed: it opens the control store of its first argument and appends facts for ever, `FACTS` at a
 * time, each time with a mark that counts them. What was acknowledged goes out as a line: source and mark.
 */

const FACTS = 3;

const WRITERS = 4;
const [, , path = ''] = process.argv;
const store = new ControlStore(await openSqlite({ path, clock: new HandClock() }));

await Promise.all(
  Array.from({ length: WRITERS }, (_, writer) => write(`${String(process.pid)}-${String(writer)}`)),
);

async function write(source: string): Promise<never> {
  for (let count = 1; ; count++) {
    const facts = Array.from({ length: FACTS }, (_, i) => ({
      fact: `${source}:${String(count)}:${String(i)}`,
      tenant: source,
      event: anEvent(count * FACTS + i, 'agent.created', { source, count }),
    }));
    await store.events.append(facts, { source, mark: String(count) });
    process.stdout.write(`${source} ${String(count)}\n`);
    // A pipe is emptied between the rounds of the event loop.
    if (count % 8 === 0) await new Promise(setImmediate);
  }
}
