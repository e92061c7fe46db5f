import type { MessagePort } from 'node:worker_threads';
import { spellError, Transfer, type AnswerMessage, type CallMessage } from './thread-protocol.js';

/** The methods a thread offers. One may return a {@link Transfer} to hand over buffers. */
export type Methods = Readonly<Record<string, (...args: never[]) => unknown>>;

/** Answers the calls that come through the port, each as soon as its method is done, in any order. */
export function serve(port: MessagePort, methods: Methods): void {
  port.on('message', (message: CallMessage) => {
    void answer(port, methods, message);
  });
}

async function answer(port: MessagePort, methods: Methods, { id, method, args }: CallMessage): Promise<void> {
  try {
    const call = methods[method] as ((...args: readonly unknown[]) => unknown) | undefined;
    if (call === undefined) throw new Error(`the thread has no method ${method}`);
    const result = await call(...args);
    if (result instanceof Transfer) post(port, { kind: 'value', id, value: result.value }, result.buffers);
    else post(port, { kind: 'value', id, value: result }, []);
  } catch (error) {
    post(port, { kind: 'error', id, error: spellError(error) }, []);
  }
}

function post(port: MessagePort, message: AnswerMessage, buffers: readonly ArrayBuffer[]): void {
  port.postMessage(message, buffers);
}
