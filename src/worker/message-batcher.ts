import type { Transferable } from 'node:worker_threads';

interface Port {
  postMessage(messages: readonly unknown[], transfer: readonly Transferable[]): void;
}

/**
 * Collects the messages of one turn of the event loop into one post: posting and receiving costs about 30 µs regardless of the
 * content, and under load a turn has many messages. Urgent messages do not wait for the end of the turn, which may take 50 ms.
 */
export class MessageBatcher<Message> {
  readonly #port: Port;
  #messages: Message[] = [];
  #handedOver: Transferable[] = [];

  constructor(port: Port) {
    this.#port = port;
  }

  /**
   * @param handedOver buffers and ports in the message that are transferred
   * @param isUrgent whether to send it at the end of this step, after everything posted before
   */
  post(message: Message, handedOver: readonly Transferable[] = [], isUrgent = false): void {
    const flush = (): void => {
      this.#flush();
    };
    if (isUrgent) queueMicrotask(flush);
    else if (this.#messages.length === 0) setImmediate(flush);
    this.#messages.push(message);
    this.#handedOver.push(...handedOver);
  }

  #flush(): void {
    if (this.#messages.length === 0) return;
    const [messages, handedOver] = [this.#messages, this.#handedOver];
    this.#messages = [];
    this.#handedOver = [];
    this.#port.postMessage(messages, handedOver);
  }
}
