import type { Meter } from '../../component/telemetry.js';
import type { GrpcServer } from './grpc-server.js';

/** Shows what a server holds, until it is ended. @param id of the receiver @returns what ends it */
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
      'Calls of gRPC from their head to the end of their answer.',
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
