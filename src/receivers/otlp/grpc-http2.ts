import { createSecureServer, createServer, type Http2Server } from 'node:http2';
import type { TlsOptions } from '../../component/host.js';
import { readTlsFiles, secureContext } from '../../http/tls.js';
import { TlsReload, type TlsReloadTools } from '../../http/tls-reload.js';

/** Concurrent calls per connection: more than any exporter makes, and more than the minimum that HTTP/2 recommends. */
const MAX_CALLS_OF_CONNECTION = 128;
const HANDSHAKE_MS = 10_000;
const SETTINGS = { maxConcurrentStreams: MAX_CALLS_OF_CONNECTION, maxHeaderListSize: 32 * 1024 };

/** An HTTP/2 server that does not listen yet, and the watcher of its certificate files. */
export interface Http2 {
  readonly server: Http2Server;
  /** @returns whether the certificate has changed @throws Error if the new certificate is invalid; the old one stays in use */
  reload(): Promise<boolean>;
  /** Ends the watcher. */
  close(): void;
}

/** @throws Error that names the file and the problem */
export async function createHttp2(tls: TlsOptions | undefined, tools: TlsReloadTools): Promise<Http2> {
  if (tls === undefined)
    return {
      server: createServer({ settings: SETTINGS }),
      reload: async () => false,
      close: () => undefined,
    };
  const files = await readTlsFiles(tls);
  const isClientAsked = files.clientCa !== undefined;
  const server = createSecureServer({
    settings: SETTINGS,
    ...secureContext(files),
    requestCert: isClientAsked,
    rejectUnauthorized: isClientAsked,
    handshakeTimeout: HANDSHAKE_MS,
  });
  const reload = new TlsReload(
    files,
    (changed) => {
      server.setSecureContext(secureContext(changed));
    },
    tools,
  );
  return {
    server,
    reload: () => reload.reload(),
    close: () => {
      reload.close();
    },
  };
}

/** Binds the port. @param host empty for every address @returns the actual port @throws Error of the system */
export function listen(server: Http2Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, ...(host !== '' && { host }) }, () => {
      server.removeListener('error', reject);
      const address = server.address();
      if (address === null || typeof address === 'string') reject(new Error('it has no port'));
      else resolve(address.port);
    });
  });
}
