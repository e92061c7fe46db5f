import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import type { TlsOptions } from '../component/host.js';

/** The contents of the TLS files of a listener, all PEM. */
export interface TlsFiles {
  readonly options: TlsOptions;
  readonly cert: Buffer;
  readonly key: Buffer;
  readonly clientCa: Buffer | undefined;
}

const DEFAULT_MIN_VERSION = 'TLSv1.2';

/**
 * Reads the files and checks that they match, so that each engine gets valid files.
 *
 * @throws Error that names the file and the problem
 */
export async function readTlsFiles(options: TlsOptions): Promise<TlsFiles> {
  const { certFile, keyFile, clientCaFile } = options;
  const [cert, key, clientCa] = await Promise.all([
    readPem('tls.cert_file', certFile),
    readPem('tls.key_file', keyFile),
    clientCaFile === undefined ? undefined : readPem('tls.client_ca_file', clientCaFile),
  ]);
  check(
    () => createSecureContext({ cert }),
    `${certFile} (tls.cert_file) contains no certificate in PEM form`,
  );
  check(
    () => createSecureContext({ key }),
    `${keyFile} (tls.key_file) contains no private key in PEM form without a passphrase`,
  );
  check(
    () => createSecureContext({ cert, key }),
    `the private key ${keyFile} (tls.key_file) does not belong to the certificate ${certFile} (tls.cert_file)`,
  );
  if (clientCa !== undefined)
    check(
      () => new X509Certificate(clientCa),
      `${clientCaFile} (tls.client_ca_file) contains no certificate in PEM form`,
    );
  return { options, cert, key, clientCa };
}

/** The TLS settings for new connections. Whether clients need a certificate is a setting of the server and cannot change. */
export function secureContext({ options, cert, key, clientCa }: TlsFiles): SecureContextOptions {
  return {
    cert,
    key,
    minVersion: options.minVersion ?? DEFAULT_MIN_VERSION,
    ...(clientCa !== undefined && { ca: clientCa }),
  };
}

/** Whether two components request the same TLS settings for one listener. */
export function isSameTls(a: TlsOptions, b: TlsOptions): boolean {
  return (
    a.certFile === b.certFile &&
    a.keyFile === b.keyFile &&
    a.clientCaFile === b.clientCaFile &&
    (a.minVersion ?? DEFAULT_MIN_VERSION) === (b.minVersion ?? DEFAULT_MIN_VERSION)
  );
}

async function readPem(setting: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new Error(`cannot read ${path} (${setting}): ${reason}`, { cause: error });
  }
}

function check(attempt: () => void, message: string): void {
  try {
    attempt();
  } catch (error) {
    throw new Error(message, { cause: error });
  }
}
