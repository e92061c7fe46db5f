import type { Meter } from '../../component/telemetry.js';
import type { NoRoom } from '../../http/connections.js';
import type { GrpcServer } from './grpc-server.js';

/**
 * Shows what a server holds, until it is ended.
 *
 * @param id of the receiver
 * @returns a function that ends it
 */
export function observeGrpc(
  server: Pick<GrpcServer, 'callsUnderWay' | 'messageBytes' | 'connections'>,
  meter: Meter,
  id: string,
): () => void {
  const labels = { receiver: id };
  const gauge = (name: string, description: string, read: () => number) =>
    meter.gauge(name, { description, labelNames: ['receiver'] }, read, labels);
  const endings = [
    gauge(
      'otlp_grpc_calls_under_way',
      'gRPC calls between their head and the end of their answer.',
      () => server.callsUnderWay,
    ),
    gauge(
      'otlp_grpc_bytes_under_way',
      'Bytes of the messages of these calls: what arrived of them, and what it became when inflated.',
      () => server.messageBytes,
    ),
    gauge('otlp_grpc_connections', 'Connections of gRPC.', () => server.connections),
  ];
  return () => {
    for (const end of endings) end();
  };
}

/**
 * @param id of the receiver
 * @returns a function that counts a connection closed for lack of room
 */
export function countNoRoom(meter: Meter, id: string): (reason: NoRoom, isNew: boolean) => void {
  const closed = meter.counter('otlp_grpc_closed_connections_total', {
    description:
      'gRPC connections that were closed because the limit was reached (reason: total, address): new ones where all have a call in progress, otherwise those without a call for the longest time.',
    labelNames: ['receiver', 'reason', 'which'],
  });
  return (reason, isNew) => {
    closed.add(1, { receiver: id, reason, which: isNew ? 'new' : 'idle' });
  };
}
