import type { MessagePort } from 'node:worker_threads';
import { Outbox } from '../../../worker/outbox.js';
import type { ThreadMessage } from '../../../worker/thread-protocol.js';
import { serve, type Methods } from '../../../worker/thread-server.js';
import type { ControlPlane } from '../../control-plane.js';
import { TOPICS } from '../../watch.js';
import { callName, CHANGED, METHODS } from './contracts.js';

type Method = (...args: readonly unknown[]) => unknown;

/** Offers a control plane to another thread: the other end of `controlOver`. It ends when the port is closed. */
export function servePlane(plane: ControlPlane, port: MessagePort): void {
  const outbox = new Outbox<ThreadMessage>(port);
  port.on('close', tellChanges(plane, outbox));
  serve(port, outbox, methodsOf(Promise.resolve(plane)));
}

/** The methods that a remote calls. @param opening calls that come before it has resolved wait for it */
export function methodsOf(opening: Promise<ControlPlane>): Methods {
  const methods: [string, Method][] = Object.entries(METHODS).flatMap(([contract, names]) =>
    Object.keys(names).map((method): [string, Method] => [
      callName(contract, method),
      async (...args) => {
        const part = (await opening)[contract as keyof typeof METHODS];
        return await (part as unknown as Readonly<Record<string, Method>>)[method]?.apply(part, [...args]);
      },
    ]),
  );
  return {
    ...Object.fromEntries(methods),
    identity: async () => await (await opening).identity(),
    directory: async () => (await opening).directory,
  };
}

/**
 * Passes every hint on. It goes out at once, so that it comes before the answer of the call that caused it: the store tells its
 * watchers before that call resolves.
 *
 * @returns a function that ends it
 */
export function tellChanges({ watch }: ControlPlane, outbox: Outbox<ThreadMessage>): () => void {
  const ends = TOPICS.map((topic) =>
    watch.watch(topic, () => {
      outbox.post({ kind: 'notice', notice: CHANGED, value: topic }, [], true);
    }),
  );
  return () => {
    for (const end of ends) end();
  };
}
