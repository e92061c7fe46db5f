import type { MessagePort } from 'node:worker_threads';
import { MessageBatcher } from '../../worker/message-batcher.js';
import { serializeError, type ThreadMessage } from '../../worker/thread-protocol.js';
import { serve, type Methods } from '../../worker/thread-server.js';
import { CONTROL_METHODS, type ControlStore } from '../contracts/control-store.js';
import { factsOver } from '../shared/outbox-port.js';
import type { FactIntake } from '../contracts/events.js';
import { TOPICS } from '../contracts/coordination.js';
import { callName, CHANGED, INTAKE_NOTICE, type IntakeNotice } from './control-client.js';

type Method = (...args: readonly unknown[]) => unknown;

/** Serves a control store to another thread: the other end of `connectControl`. Ends when the port is closed. */
export function serveControl(control: ControlStore, port: MessagePort): void {
  const batcher = new MessageBatcher<ThreadMessage>(port);
  port.on('close', notifyChanges(control, batcher));
  serve(port, batcher, methodsOf(Promise.resolve(control), batcher));
}

/**
 * The methods for remote calls.
 *
 * @param opening earlier calls wait until it resolves
 * @param batcher sends to the client
 */
export function methodsOf(opening: Promise<ControlStore>, batcher: MessageBatcher<ThreadMessage>): Methods {
  const methods: [string, Method][] = Object.entries(CONTROL_METHODS).flatMap(([contract, names]) =>
    Object.keys(names).map((method): [string, Method] => [
      callName(contract, method),
      async (...args) => {
        const part = (await opening)[contract as keyof typeof CONTROL_METHODS];
        return await (part as unknown as Readonly<Record<string, Method>>)[method]?.apply(part, [...args]);
      },
    ]),
  );
  return {
    ...Object.fromEntries(methods),
    ...intakesOf(opening, batcher),
    identity: async () => await (await opening).identity(),
    directory: async () => (await opening).directory,
  };
}

/** Sources are read over separate ports, so that facts do not pass through the remote's thread. */
function intakesOf(opening: Promise<ControlStore>, batcher: MessageBatcher<ThreadMessage>): Methods {
  const intakes = new Map<number, FactIntake>();
  const notify = (intake: number, news: IntakeNotice['news']): void => {
    batcher.post({ kind: 'notice', notice: INTAKE_NOTICE, value: { intake, news } satisfies IntakeNotice });
  };
  return {
    takeFacts: async (intake: number, name: string, port: MessagePort) => {
      const taken = await (
        await opening
      ).takeFacts(factsOver(name, port), {
        failing: (error) => {
          notify(intake, { failing: error && serializeError(error) });
        },
        passedOver: (facts) => {
          notify(intake, { passedOver: facts });
        },
      });
      const stop = async (): Promise<void> => {
        await taken.stop();
        port.close();
      };
      intakes.set(intake, { stop });
    },
    stopFacts: async (intake: number) => {
      await intakes.get(intake)?.stop();
      intakes.delete(intake);
    },
  };
}

/**
 * Forwards every hint at once, so that it arrives before the answer of the call that caused it: the store notifies its watchers before
 * that call resolves.
 *
 * @returns a function that stops forwarding
 */
export function notifyChanges({ watch }: ControlStore, batcher: MessageBatcher<ThreadMessage>): () => void {
  const ends = TOPICS.map((topic) =>
    watch.watch(topic, () => {
      batcher.post({ kind: 'notice', notice: CHANGED, value: topic }, [], true);
    }),
  );
  return () => {
    for (const end of ends) end();
  };
}
