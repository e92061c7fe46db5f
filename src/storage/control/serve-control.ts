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
  const { methods, stopIntakes } = methodsOf(Promise.resolve(control), batcher);
  port.on('close', notifyChanges(control, batcher));
  port.on('close', stopIntakes);
  serve(port, batcher, methods);
}

/**
 * The methods for remote calls.
 *
 * @param opening earlier calls wait until it resolves
 * @param batcher leads to the remote
 * @returns also a function for the end of the remote, which cannot stop its intakes itself any more
 */
export function methodsOf(
  opening: Promise<ControlStore>,
  batcher: MessageBatcher<ThreadMessage>,
): { readonly methods: Methods; readonly stopIntakes: () => void } {
  const intakes = new Map<number, Promise<FactIntake>>();
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
    methods: {
      ...Object.fromEntries(methods),
      ...intakeMethods(opening, batcher, intakes),
      identity: async () => await (await opening).identity(),
      directory: async () => (await opening).directory,
    },
    stopIntakes: () => {
      // The caller of `takeFacts` got the error of an intake that failed.
      for (const taken of intakes.values())
        taken.then(
          (intake) => intake.stop(),
          () => undefined,
        );
    },
  };
}

/** Sources are read over separate ports, so that facts do not pass through the remote's thread. */
function intakeMethods(
  opening: Promise<ControlStore>,
  batcher: MessageBatcher<ThreadMessage>,
  intakes: Map<number, Promise<FactIntake>>,
): Methods {
  const notify = (intake: number, update: IntakeNotice['update']): void => {
    batcher.post({ kind: 'notice', notice: INTAKE_NOTICE, value: { intake, update } satisfies IntakeNotice });
  };
  const take = async (intake: number, name: string, port: MessagePort): Promise<FactIntake> => {
    try {
      const store = await opening;
      const taken = await store.takeFacts(factsOver(name, port), {
        failing: (error) => {
          notify(intake, { failing: error && serializeError(error) });
        },
        passedOver: (facts) => {
          notify(intake, { passedOver: facts });
        },
      });
      return {
        stop: async () => {
          await taken.stop();
          port.close();
        },
      };
    } catch (error) {
      intakes.delete(intake);
      port.close();
      throw error;
    }
  };
  return {
    takeFacts: async (intake: number, name: string, port: MessagePort) => {
      const taken = take(intake, name, port);
      intakes.set(intake, taken);
      await taken;
    },
    stopFacts: async (intake: number) => {
      await (await intakes.get(intake))?.stop();
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
