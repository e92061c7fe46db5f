import { ControlExtension } from '../../../src/storage/control/control-extension.js';
import type { FactConnector } from '../../../src/storage/shared/outbox-port.js';
import { DuckDBStore } from '../../../src/storage/duckdb/client/store.js';
import { watchedPort } from '../../chaos/watched-port.js';
import { controlPathOf } from '../../support/control-store.js';
import { componentSettings } from '../../support/component-settings.js';
import { aTrace, NOON } from '../../support/run-records.js';
import { StatusHost } from '../../support/status-host.js';
import { hostThatKeeps, STORE_OPTIONS } from '../duckdb/test-store.js';

/**
 * A process to be killed: opens the store of its first argument with both threads and writes runs that emit facts
 * for the users of its second, one after the other, forever. Prints a line before each write and after its response.
 *
 * The third argument sets where it kills itself: at the n-th page of facts sent to the log, after n appends, or never.
 */

export interface Line {
  readonly kind: 'sent' | 'done';
  readonly user: string;
  readonly trace: string;
}

export type OwnDeath = 'read' | 'appended' | 'none';

const [, , path = '', users = '', death = '', countdown = ''] = process.argv;
let left = Number(countdown);
const pass = (): void => {
  if (--left <= 0) process.kill(process.pid, 'SIGKILL');
};

class WatchedControl extends ControlExtension {
  override takeFacts(...[source, listener]: Parameters<ControlExtension['takeFacts']>) {
    const original = source as FactConnector;
    const watched: FactConnector = {
      ...original,
      connectFacts: async () =>
        watchedPort(await original.connectFacts(), {
          called: () => undefined,
          answered: (_method, page) => {
            if (death === 'read' && (page as { readonly facts: readonly unknown[] }).facts.length > 0) pass();
          },
          noticed: () => undefined,
        }),
    };
    return super.takeFacts(watched, listener);
  }
}

const control = new WatchedControl(componentSettings('sqlite'), {
  engine: 'sqlite',
  path: controlPathOf(path),
});
await control.start(new StatusHost().host);
if (death === 'appended') control.watch.watch('events', pass);
const store = new DuckDBStore(
  { ...componentSettings('duckdb'), config: {} },
  { ...STORE_OPTIONS, path, maxQueueBytes: 1e9 },
);
await store.start(hostThatKeeps([], control));
await Promise.all(users.split(',').map(write));

async function write(user: string): Promise<never> {
  for (;;) {
    const item = aTrace(2);
    const trace = item.trace.trace_id;
    print({ kind: 'sent', user, trace });
    await store.writer.traces({ tenant: user, items: [item] }, { receivedAt: NOON });
    print({ kind: 'done', user, trace });
  }
}

function print(line: Line): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
