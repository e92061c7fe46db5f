import type { MessagePort } from 'node:worker_threads';
import type { MessageBatcher } from './message-batcher.js';
import {
  serializeError,
  Transfer,
  type CallMessage,
  type OwnerMessage,
  type ThreadMessage,
} from './thread-protocol.js';

/** The methods that a thread offers. A method may return a {@link Transfer} to transfer buffers. */
export type Methods = Readonly<Record<string, (...args: never[]) => unknown>>;

/**
 * Answers the calls from a port, each when its method is done, in any order. A message that is not a call is answered with an
 * error for its id, or for 0, which no call has.
 *
 * @param batcher sends messages to the owner; the thread may use it for notices
 */
export function serve(port: MessagePort, batcher: MessageBatcher<ThreadMessage>, methods: Methods): void {
  /** For running calls that may be abandoned. */
  const aborts = new Map<number, AbortController>();
  const answerUnlessAbandoned = async (call: CallMessage): Promise<void> => {
    const abort = new AbortController();
    aborts.set(call.id, abort);
    await answer(batcher, methods, { ...call, args: [...call.args, abort.signal] });
    aborts.delete(call.id);
  };
  port.on('message', (messages: unknown) => {
    for (const message of Array.isArray(messages) ? (messages as readonly unknown[]) : [messages]) {
      if (!isOwnerMessage(message)) refuse(batcher, message);
      else if (message.kind === 'abandon') aborts.get(message.id)?.abort();
      else if (message.mayBeAbandoned) void answerUnlessAbandoned(message);
      else void answer(batcher, methods, message);
    }
  });
}

function isOwnerMessage(message: unknown): message is OwnerMessage {
  if (typeof message !== 'object' || message === null) return false;
  const { kind, id, method, args } = message as Readonly<Partial<Record<keyof CallMessage, unknown>>>;
  if (typeof id !== 'number') return false;
  return kind === 'abandon' || (kind === 'call' && typeof method === 'string' && Array.isArray(args));
}

function refuse(batcher: MessageBatcher<ThreadMessage>, message: unknown): void {
  const { id } = Object(message) as { readonly id?: unknown };
  const error = serializeError(new TypeError('the message is not a method call'));
  batcher.post({ kind: 'error', id: typeof id === 'number' ? id : 0, error }, [], true);
}

async function answer(
  batcher: MessageBatcher<ThreadMessage>,
  methods: Methods,
  { id, method, args, isUrgent }: CallMessage,
): Promise<void> {
  try {
    const call = Object.hasOwn(methods, method)
      ? (methods[method] as (...args: readonly unknown[]) => unknown)
      : undefined;
    if (call === undefined) throw new Error(`the thread has no method ${method}`);
    const result = await call(...args);
    if (result instanceof Transfer)
      batcher.post({ kind: 'value', id, value: result.value }, result.buffers, isUrgent);
    else batcher.post({ kind: 'value', id, value: result }, [], isUrgent);
  } catch (error) {
    batcher.post({ kind: 'error', id, error: serializeError(error) }, [], isUrgent);
  }
}
