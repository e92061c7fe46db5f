import { setMaxListeners } from 'node:events';
import type { LookupAddress } from 'node:dns';
import { connect as connectPlain, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect, createSecureContext, rootCertificates, type SecureContext } from 'node:tls';
import { Agent, type buildConnector } from 'undici';
import type { Clock } from '../../../component/telemetry.js';
import type { AddressPolicy } from './address-policy.js';
import {
  AddressRefusedError,
  ConnectionLostError,
  LookupFailedError,
  TimeLimitError,
  AnswerTooLongError,
} from './connection-error.js';
import { resolveNames, type Resolve } from './resolve-names.js';
import { MAX_RESPONSE_BYTES } from './response-start.js';

/** Enough for the longest head and the kept body, in chunks of two bytes each. */
const MAX_ANSWER_BYTES = 8 * MAX_RESPONSE_BYTES;

/**
 * Ends a connection that receives more for one request than any valid response may have. Limits of headers and bodies do not cover
 * early hints, chunk extensions and empty lines, which can go on for ever and keep a core busy. Call it before the connection has
 * another reader, so that this one reads first.
 */
function limitAnswers(socket: Socket): void {
  let written = 0;
  let before = 0;
  let seen = 0;
  socket.on('readable', () => {
    if (socket.bytesWritten !== written) {
      // Another request was sent: bytes read so far belong to earlier ones.
      written = socket.bytesWritten;
      before = seen;
    }
    seen = socket.bytesRead;
    if (seen - before > MAX_ANSWER_BYTES)
      socket.destroy(new AnswerTooLongError(`more than ${MAX_ANSWER_BYTES} bytes`));
  });
}

/** Options for operators' endpoints that users' endpoints do not have. */
export interface TransportOptions {
  /** Allows HTTP without TLS, if the URL uses it. */
  readonly allowsPlain?: boolean | undefined;
  /** A client certificate and its key, both PEM. */
  readonly cert?: string | undefined;
  readonly key?: string | undefined;
  /** The name that the certificate must have, instead of the host's. */
  readonly serverName?: string | undefined;
  /** Whether any certificate will do. */
  readonly skipsVerification?: boolean | undefined;
}

export interface GuardOptions {
  readonly policy: Pick<AddressPolicy, 'allows'>;
  /** Time to find the address, to connect and to agree on TLS. */
  readonly connectTimeoutMs: number;
  readonly clock: Clock;
  /** PEM certificates that are trusted in addition to the public ones. */
  readonly trusted: readonly string[];
  readonly transport?: TransportOptions | undefined;
  /** If absent, names are resolved by the hosts file and DNS. */
  readonly resolve?: Resolve | undefined;
  /** Aborted to break off connections that are being made, which undici's `destroy` does not do. */
  readonly closed: AbortSignal;
}

/**
 * Long enough for a burst of events to share connections, which then cost a fifth. Short, because an attempt fails when a
 * receiver closes an idle connection just as it is reused.
 */
const KEEP_ALIVE_MS = 1000;

export const MAX_HEADER_BYTES = 16 * 1024;

/**
 * Makes HTTPS connections (and HTTP if the options allow it), and only to addresses that the policy allows. Three guards, because each
 * alone has a hole: Node does not look up literal addresses, names change between a check and a connection, and the connected address
 * is certain only afterwards. Proxies of the environment are not used.
 */
export function guardedAgent(options: GuardOptions): Agent {
  return new Agent({
    connect: guardedConnector(options),
    allowH2: false,
    pipelining: 1,
    maxHeaderSize: MAX_HEADER_BYTES,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    // The sender limits the whole attempt; limits between two bytes mean little.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

function guardedConnector(options: GuardOptions): buildConnector.connector {
  const { policy, connectTimeoutMs, clock, trusted, closed, transport = {} } = options;
  // Once for all connections: reading the public certificates takes 50 ms.
  const secureContext = contextWith(trusted, transport);
  const resolve = options.resolve ?? resolveNames({ connectTimeoutMs, clock });
  // Many connections listen to one signal, and Node takes more than ten listeners for a leak.
  setMaxListeners(0, closed);

  return ({ hostname, protocol, port }, callback) => {
    const isPlain = protocol === 'http:' && transport.allowsPlain === true;
    if ((protocol !== 'https:' && !isPlain) || (isIP(hostname) !== 0 && !policy.allows(hostname))) {
      queueMicrotask(() => {
        callback(new AddressRefusedError(`${protocol}//${hostname} is not allowed`), null);
      });
      return;
    }
    const lookup = new AbortController();
    const place = {
      host: hostname,
      port: port === '' ? (isPlain ? 80 : 443) : Number(port),
      lookup: guardedLookup(policy, resolve, lookup.signal),
    };
    const socket: Socket = isPlain
      ? connectPlain(place)
      : connect({
          ...place,
          // A name for the certificate; an address cannot be a server name.
          servername: transport.serverName ?? (isIP(hostname) === 0 ? hostname : ''),
          ALPNProtocols: ['http/1.1'],
          secureContext,
          // Set explicitly, because an environment variable can turn the default off.
          rejectUnauthorized: transport.skipsVerification !== true,
        });
    socket.setNoDelay(true);
    let isSettled = false;
    const settle = (error: Error | null): void => {
      cancel();
      closed.removeEventListener('abort', close);
      lookup.abort();
      if (isSettled) return;
      isSettled = true;
      if (error === null) callback(null, socket);
      else callback(error, null);
    };
    const cancel = clock.after(connectTimeoutMs, () => {
      socket.destroy(new TimeLimitError('connection', connectTimeoutMs));
    });
    const close = (): void => {
      lookup.abort();
      socket.destroy();
    };
    closed.addEventListener('abort', close);
    // Before TLS's own listener, so that a refused host gets no byte.
    socket.prependOnceListener('connect', () => {
      const { remoteAddress } = socket;
      if (remoteAddress === undefined) socket.destroy();
      else if (!policy.allows(remoteAddress))
        socket.destroy(new AddressRefusedError(`${hostname} led to ${remoteAddress}, which is not allowed`));
    });
    socket.once(isPlain ? 'connect' : 'secureConnect', () => {
      if (socket.destroyed) return;
      limitAnswers(socket);
      settle(null);
    });
    socket.on('error', settle);
    socket.once('close', () => {
      settle(new ConnectionLostError(`the connection to ${hostname} ended before it was there`));
    });
  };
}

/** Resolves the allowed addresses of a name. Node requests one or all of them, depending on its settings. */
function guardedLookup(
  policy: Pick<AddressPolicy, 'allows'>,
  resolve: Resolve,
  signal: AbortSignal,
): LookupFunction {
  const find = async (hostname: string): Promise<LookupAddress[]> => {
    const found = await resolve(hostname, signal).catch((cause: unknown) => {
      throw new LookupFailedError(hostname, cause);
    });
    if (found.length === 0) throw new LookupFailedError(hostname, 'the name has none');
    const allowed = found.filter(({ address }) => policy.allows(address));
    if (allowed.length > 0) return allowed;
    const addresses = found.map(({ address }) => address).join(', ');
    throw new AddressRefusedError(`${hostname} is ${addresses}, which is not allowed`);
  };
  return (hostname, options, callback) => {
    find(hostname).then(
      (allowed) => {
        const [first] = allowed;
        if (options.all === true || first === undefined) callback(null, allowed);
        else callback(null, first.address, first.family);
      },
      (error: unknown) => {
        callback(error instanceof Error ? error : new Error(String(error)), '');
      },
    );
  };
}

function contextWith(trusted: readonly string[], { cert, key }: TransportOptions): SecureContext {
  return createSecureContext({
    ...(trusted.length > 0 && { ca: [...rootCertificates, ...trusted] }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  });
}
