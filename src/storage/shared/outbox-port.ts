import { MessageChannel, type MessagePort } from 'node:worker_threads';
import { MessageBatcher } from '../../worker/message-batcher.js';
import { PortClient } from '../../worker/port-client.js';
import type { ThreadMessage } from '../../worker/thread-protocol.js';
import { serve } from '../../worker/thread-server.js';
import type { FactPage, OutboxSource } from '../contracts/events.js';
import { deserializeError, unavailable } from '../contracts/errors.js';

/** A source of facts that another thread can read without passing through this one. */
export interface FactConnector extends OutboxSource {
  /** A port for `factsOver`. It ends when either side closes it. */
  connectFacts(): Promise<MessagePort>;
}

/** A port to a source for another thread: directly to the source's own thread if it has one, otherwise to this thread. */
export async function factPort(source: OutboxSource): Promise<MessagePort> {
  if ('connectFacts' in source) return await (source as FactConnector).connectFacts();
  const { port1, port2 } = new MessageChannel();
  serveFacts(source, port1);
  return port2;
}

/** Serves facts to another thread: the other end of {@link factsOver}. Ends when the port is closed. */
export function serveFacts(source: Pick<OutboxSource, 'readFacts'>, port: MessagePort): void {
  const readFacts: OutboxSource['readFacts'] = async (...args) => await source.readFacts(...args);
  serve(port, new MessageBatcher<ThreadMessage>(port), { readFacts });
}

/** The source at the other end of a port, until it is closed. */
export function factsOver(name: string, port: MessagePort): OutboxSource {
  const client = new PortClient(port, {
    deserializeError: (error) => deserializeError(error),
    onNotice: () => undefined,
  });
  port.on('close', () => {
    client.end(unavailable('The telemetry store is closed.'));
  });
  return {
    name,
    readFacts: (mark, limit, abort) => client.call<FactPage>('readFacts', [mark, limit], { abort }),
  };
}
