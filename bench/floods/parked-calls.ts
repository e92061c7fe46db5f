import type { IncomingHttpHeaders } from 'node:http';
import { connect, type ClientHttp2Session } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { FLOOD_ADDRESS, type Flood, type FloodTarget, type Tally } from './flood.js';

const SESSIONS = 10;
const CALLS_PER_SESSION = 20;
const TURN_MS = 1000;
const MIB = 2 ** 20;
const PREFIX_BYTES = 5;
const EXPORT = '/opentelemetry.proto.collector.trace.v1.TraceService/Export';

/** gRPC calls that are begun and never ended: some with most of a message, some with one that is small only in gzip. */
export const parkedCalls: Flood = {
  title: `${SESSIONS * CALLS_PER_SESSION} parked gRPC calls`,
  async run(target, tally, stop) {
    const most = framed(Buffer.alloc(4 * MIB - 1024), false).subarray(0, 3 * MIB);
    const inflated = framed(gzipSync(Buffer.alloc(4 * MIB - 1024)), true);
    const sessions = new Set<ClientHttp2Session>();
    while (!stop.aborted) {
      while (sessions.size < SESSIONS) {
        const session = park(target, [most, inflated], tally);
        sessions.add(session);
        session.once('close', () => sessions.delete(session));
      }
      await sleep(TURN_MS);
    }
    for (const session of sessions) session.destroy();
  },
};

function park({ grpcUrl, key }: FloodTarget, messages: readonly Buffer[], tally: Tally): ClientHttp2Session {
  const { host, hostname, port } = new URL(grpcUrl);
  const session = connect(`http://${host}`, {
    createConnection: () =>
      connectSocket({ host: hostname, port: Number(port), localAddress: FLOOD_ADDRESS }),
  });
  session.on('error', () => {
    tally.add('connections that failed');
  });
  for (let number = 0; number < CALLS_PER_SESSION; number++) {
    const call = session.request({
      ':method': 'POST',
      ':path': EXPORT,
      te: 'trailers',
      'content-type': 'application/grpc',
      'grpc-encoding': 'gzip',
      authorization: `Bearer ${key}`,
    });
    tally.add('begun');
    call.on('error', () => undefined);
    call.on('response', (headers) => {
      const status = headers['grpc-status'];
      tally.add(status === undefined ? 'answered with more to come' : `answered ${String(status)}`);
    });
    call.on('trailers', (trailers: IncomingHttpHeaders) => {
      tally.add(`ended ${String(trailers['grpc-status'])}`);
    });
    call.resume();
    call.write(messages[number % messages.length]);
  }
  return session;
}

/** A message as gRPC frames it: whether it is compressed, its length, its bytes. */
function framed(message: Buffer, isCompressed: boolean): Buffer {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt8(isCompressed ? 1 : 0, 0);
  prefix.writeUInt32BE(message.length, 1);
  return Buffer.concat([prefix, message]);
}
