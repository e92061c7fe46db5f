import { connect, constants } from 'node:http2';
import type { Test } from 'tap';
import type { TelemetrySignal } from '../../src/signal/batch.js';
import { KEY } from './known-keys.js';
import { OTLP_METHODS } from './otlp-grpc-client.js';

interface RawStatus {
  readonly httpStatus: number;
  /** `grpc-status`; -1 if the call ended without one. */
  readonly code: number;
  readonly message: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** One call whose data the test controls. */
export interface RawCall {
  /** How it ended, on either side. */
  readonly status: Promise<RawStatus>;
  write(bytes: Uint8Array): void;
  /** Ends the client side. */
  end(bytes?: Uint8Array): void;
  cancel(): void;
}

/** A message with its five-byte prefix. @param announced length, if different */
export function framed(message: Uint8Array, isPacked = false, announced = message.length): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(isPacked ? 1 : 0);
  head.writeUInt32BE(announced, 1);
  return Buffer.concat([head, message]);
}

/** A connection with calls unlike any gRPC client. Ends with the test. */
export function connectRaw(t: Pick<Test, 'teardown'>, address: string) {
  // Aborts calls with more than this many megabytes waiting to be sent.
  const session = connect(`http://${address}`, { maxSessionMemory: 1000 });
  session.on('error', () => undefined);
  t.teardown(() => {
    session.destroy();
  });
  return {
    session,
    open: (signal: TelemetrySignal, extra: Readonly<Record<string, string>> = {}): RawCall => {
      const stream = session.request({
        ':method': 'POST',
        ':path': OTLP_METHODS[signal],
        'content-type': 'application/grpc',
        te: 'trailers',
        authorization: `Bearer ${KEY}`,
        ...extra,
      });
      stream.on('error', () => undefined);
      const all: Record<string, string> = {};
      const note = (headers: object): void => {
        for (const [name, value] of Object.entries(headers)) all[name] = String(value);
      };
      stream.on('response', note);
      stream.on('trailers', note);
      stream.resume();
      const status = new Promise<RawStatus>((resolve) => {
        const notify = (): void => {
          resolve({
            httpStatus: Number(all[':status'] ?? 0),
            code: Number(all['grpc-status'] ?? -1),
            message: decodeURI(all['grpc-message'] ?? ''),
            headers: all,
          });
        };
        // gRPC clients stop sending when the call has its status.
        const reportStatus = (): void => {
          if (!('grpc-status' in all)) return;
          notify();
          stream.close(constants.NGHTTP2_CANCEL);
        };
        stream.once('response', reportStatus);
        stream.once('trailers', reportStatus);
        stream.once('close', notify);
      });
      return {
        status,
        write: (bytes) => stream.write(bytes),
        end: (bytes) => {
          if (bytes === undefined) stream.end();
          else stream.end(bytes);
        },
        cancel: () => {
          stream.close(constants.NGHTTP2_CANCEL);
        },
      };
    },
  };
}
