interface Port {
  postMessage(messages: readonly unknown[], transfer: readonly ArrayBuffer[]): void;
}

/**
 * Collects what is said within one turn of the event loop into one message: posting and receiving costs some 30 µs
 * whatever the message holds, and under load there are many a turn. What is urgent does not wait for the turn's end, which
 * may be 50 ms away then.
 */
export class Outbox<Message> {
  readonly #port: Port;
  #messages: Message[] = [];
  #buffers: ArrayBuffer[] = [];

  constructor(port: Port) {
    this.#port = port;
  }

  /**
   * @param buffers in the message that are handed over instead of copied
   * @param isUrgent goes at the end of this step, behind all that was said before
   */
  post(message: Message, buffers: readonly ArrayBuffer[] = [], isUrgent = false): void {
    const flush = (): void => {
      this.#flush();
    };
    if (isUrgent) queueMicrotask(flush);
    else if (this.#messages.length === 0) setImmediate(flush);
    this.#messages.push(message);
    this.#buffers.push(...buffers);
  }

  #flush(): void {
    if (this.#messages.length === 0) return;
    const [messages, buffers] = [this.#messages, this.#buffers];
    this.#messages = [];
    this.#buffers = [];
    this.#port.postMessage(messages, buffers);
  }
}
