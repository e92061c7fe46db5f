interface Port {
  postMessage(messages: readonly unknown[], transfer: readonly ArrayBuffer[]): void;
}

/**
 * Collects what is said within one turn of the event loop into one message: posting and receiving costs some 30 µs
 * whatever the message holds, and under load there are many a turn.
 */
export class Outbox<Message> {
  readonly #port: Port;
  #messages: Message[] = [];
  #buffers: ArrayBuffer[] = [];

  constructor(port: Port) {
    this.#port = port;
  }

  /** @param buffers in the message that are handed over instead of copied */
  post(message: Message, buffers: readonly ArrayBuffer[] = []): void {
    if (this.#messages.length === 0) {
      setImmediate(() => {
        this.#flush();
      });
    }
    this.#messages.push(message);
    this.#buffers.push(...buffers);
  }

  #flush(): void {
    const [messages, buffers] = [this.#messages, this.#buffers];
    this.#messages = [];
    this.#buffers = [];
    this.#port.postMessage(messages, buffers);
  }
}
