/**
 * Messages between a thread and its owner: calls, each with an answer, and notices without one. Errors are serialized, because a
 * structured clone drops everything except the message. Both sides post lists of messages.
 */

export interface CallMessage {
  readonly kind: 'call';
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
  /** Whether an {@link AbandonMessage} may follow; the method then gets a signal as its last argument. */
  readonly mayBeAbandoned: boolean;
  /** Whether call and answer are sent immediately; bulky ones of one turn of the event loop are sent together. */
  readonly isUrgent: boolean;
}

/** The caller no longer needs the answer of a call, which still arrives. */
interface AbandonMessage {
  readonly kind: 'abandon';
  readonly id: number;
}

/** A message from the owner to its thread. */
export type OwnerMessage = CallMessage | AbandonMessage;

type AnswerMessage =
  | { readonly kind: 'value'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: SerializedError };

interface NoticeMessage {
  readonly kind: 'notice';
  readonly notice: string;
  readonly value: unknown;
}

/** A message from the thread to its owner. */
export type ThreadMessage = AnswerMessage | NoticeMessage;

/** An error as plain data: its name, message, stack, and the plain fields of its class. */
export interface SerializedError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly fields: Readonly<Record<string, PlainField>>;
}

type PlainField = string | number | boolean | Readonly<Record<string, number>>;

/** A value with buffers that are transferred instead of copied. */
export class Transfer<T> {
  readonly value: T;
  readonly buffers: readonly ArrayBuffer[];

  constructor(value: T, buffers: readonly ArrayBuffer[]) {
    this.value = value;
    this.buffers = buffers;
  }
}

export function serializeError(error: unknown): SerializedError {
  if (!(error instanceof Error))
    return { name: 'Error', message: String(error), stack: undefined, fields: {} };
  const fields: Record<string, PlainField> = {};
  for (const [key, value] of Object.entries(error)) if (isPlain(value)) fields[key] = value;
  // The cause is for the log, which prints the stack.
  const cause =
    error.cause instanceof Error ? `\n  caused by: ${error.cause.stack ?? error.cause.message}` : '';
  return { name: error.name, message: error.message, stack: `${error.stack ?? ''}${cause}`, fields };
}

/** A received error with message and stack only. */
export function plainError({ message, stack }: SerializedError): Error {
  const error = new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}

function isPlain(value: unknown): value is PlainField {
  if (typeof value !== 'object' || value === null) {
    return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  }
  return (
    Object.getPrototypeOf(value) === Object.prototype &&
    Object.values(value).every((field) => typeof field === 'number')
  );
}
