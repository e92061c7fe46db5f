import { connect, type Socket } from 'node:net';

/** A connection on which a test sends exact bytes. */
export class RawConnection {
  readonly socket: Socket;
  #received = '';
  #isClosed = false;
  #watchers: (() => void)[] = [];

  constructor(port: number) {
    this.socket = connect(port, '127.0.0.1');
    this.socket.setEncoding('latin1');
    this.socket.on('data', (text: string) => {
      this.#received += text;
      this.#notify();
    });
    // A reset also ends a connection.
    this.socket.on('error', () => undefined);
    this.socket.on('close', () => {
      this.#isClosed = true;
      this.#notify();
    });
  }

  get received(): string {
    return this.#received;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  write(text: string | Uint8Array): void {
    this.socket.write(text);
  }

  /** Waits until the received data contains the text that many times or the connection closes. */
  async until(text: string, times = 1): Promise<string> {
    while (this.#received.split(text).length <= times && !this.#isClosed) await this.#change();
    return this.#received;
  }

  async closed(): Promise<string> {
    while (!this.#isClosed) await this.#change();
    return this.#received;
  }

  destroy(): void {
    this.socket.destroy();
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#watchers.push(resolve);
    });
  }

  #notify(): void {
    for (const watcher of this.#watchers.splice(0)) watcher();
  }
}

/** The head of a request. */
export function head(line: string, headers: readonly string[] = []): string {
  return [`${line} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n');
}
