import { MessageChannel, type MessagePort } from 'node:worker_threads';
import type { OwnerMessage, ThreadMessage } from '../../src/worker/thread-protocol.js';

/** Observes the messages between two threads before they arrive. */
export interface PortWatch {
  readonly called: (method: string) => void;
  readonly answered: (method: string, value: unknown) => void;
  readonly noticed: (notice: string, value: unknown) => void;
}

/**
 * Puts the calling thread between a client and the thread that serves it.
 *
 * @param served the client's port
 * @returns the port to give to the client
 */
export function watchedPort(served: MessagePort, watch: PortWatch): MessagePort {
  const { port1: caller, port2: handedOut } = new MessageChannel();
  const methods = new Map<number, string>();
  caller.on('message', (messages: readonly OwnerMessage[]) => {
    for (const message of messages) {
      if (message.kind !== 'call') continue;
      methods.set(message.id, message.method);
      watch.called(message.method);
    }
    served.postMessage(messages);
  });
  served.on('message', (messages: readonly ThreadMessage[]) => {
    for (const message of messages) {
      if (message.kind === 'value') watch.answered(methods.get(message.id) ?? '', message.value);
      else if (message.kind === 'notice') watch.noticed(message.notice, message.value);
      if (message.kind !== 'notice') methods.delete(message.id);
    }
    caller.postMessage(messages);
  });
  caller.on('close', () => {
    served.close();
  });
  served.on('close', () => {
    caller.close();
  });
  return handedOut;
}
